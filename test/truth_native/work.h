// Work of a fixed amount, threads, and the result: what the truth programs share. Each program is compiled twice, with
// TWIN 0 as it was and with TWIN 1 with the lock really changed, and prints the same result both times.
#pragma once

#include <pthread.h>
#include <stdint.h>
#include <stdio.h>

#include <functional>
#include <thread>
#include <vector>

// About a microsecond each; always the same instructions, whoever preempts.
[[gnu::noinline]] inline uint64_t work(uint64_t seed, int units) {
  for (int i = 0; i < units * 1000; ++i) seed = seed * 6364136223846793005u + 1442695040888963407u;
  return seed;
}

inline void run_threads(int count, const std::function<void(int)>& body) {
  std::vector<std::thread> threads;
  for (int i = 0; i < count; ++i) threads.emplace_back(body, i);
  for (std::thread& thread : threads) thread.join();
}

inline int print_result(uint64_t value) {
  printf("result %llu\n", static_cast<unsigned long long>(value));
  return 0;
}
