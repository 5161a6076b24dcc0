// What the native programs share: computing of a known number of steps, how items are divided among tasks, and the one argument.
#pragma once

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

// Computes; each step needs the last. About 2 ns a step. The result has 24 bits.
[[gnu::noinline]] inline uint64_t spin(uint64_t seed, int steps) {
  for (int i = 0; i < steps; ++i) seed = (seed ^ seed >> 29) * 6364136223846793005u + 1442695040888963407u;
  return seed >> 40;
}

// An item waits for the last one of its task: else a processor computes the end of one and the beginning of the next together, and
// the same items take less time in one task than in two. What is shifted away, spin's 24 bits, no compiler knows, for it is not inlined.
inline uint64_t items(int from, int to, int steps) {
  uint64_t sum = 0, last = 0;
  for (int item = from; item < to; ++item) {
    last = spin(static_cast<uint64_t>(item) + (last >> 24), steps);
    sum += last;
  }
  return sum;
}

// The first of `count` items that belongs to a task, of `tasks` that get neighbours.
inline int first(int count, int tasks, int task) {
  return static_cast<int>(static_cast<int64_t>(count) * task / tasks);
}

inline int setting(int argument_count, char** arguments, int by_default, int most, int least = 1) {
  const int value = argument_count == 1 ? by_default : atoi(arguments[1]);
  if (argument_count > 2 || value < least || value > most) {
    fprintf(stderr, "usage: %s [SETTING], from %d to %d\n", arguments[0], least, most);
    exit(2);
  }
  return value;
}

inline int print_result(uint64_t value) {
  printf("result %llu\n", static_cast<unsigned long long>(value));
  return 0;
}
