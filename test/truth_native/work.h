// Work of a fixed amount, threads, and the result: what the truth programs share. Each program is also its twin, in
// which the lock is really changed, and prints the same result as both: of two programs the same work takes 10 to 20 %
// longer in one on some processors, by where its code lies.
//
// usage: PROGRAM [base|twin] [alone]
// alone: all bodies one after the other on one thread, and their CPU time to stderr: what base and twin must have in
// common.
#pragma once

#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <functional>
#include <thread>
#include <vector>

inline bool twin, alone;

inline void choose(char** arguments) {
  for (++arguments; *arguments; ++arguments) {
    twin |= strcmp(*arguments, "twin") == 0;
    alone |= strcmp(*arguments, "alone") == 0;
  }
}

// About a microsecond each; always the same instructions, whoever preempts.
[[gnu::noinline]] inline uint64_t work(uint64_t seed, int units) {
  for (int i = 0; i < units * 1000; ++i) seed = seed * 6364136223846793005u + 1442695040888963407u;
  return seed;
}

inline void run_alone(int count, const std::function<void(int)>& body) {
  for (int i = 0; i < count; ++i) body(i);
  timespec used;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used);
  fprintf(stderr, "work_ns %lld\n", used.tv_sec * 1'000'000'000LL + used.tv_nsec);
}

inline void run_threads(int count, const std::function<void(int)>& body) {
  if (alone) return run_alone(count, body);
  std::vector<std::thread> threads;
  for (int i = 0; i < count; ++i) threads.emplace_back(body, i);
  for (std::thread& thread : threads) thread.join();
}

inline int print_result(uint64_t value) {
  printf("result %llu\n", static_cast<unsigned long long>(value));
  return 0;
}
