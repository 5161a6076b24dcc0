// Threads, work outside of locks, and the line that unseen_native.py reads.
#pragma once

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <thread>
#include <vector>

inline bool twin;                 // the change is made
constexpr int kNotMeasured = 77;  // the exit status where the machine lacks what the program needs

// About `us` microseconds on a processor of today; always the same instructions.
[[gnu::noinline]] inline uint64_t compute(uint64_t seed, int us) {
  for (int i = 0; i < us * 900; ++i) seed = seed * 6364136223846793005u + 1442695040888963407u;
  return seed;
}

inline uint64_t next_random(uint64_t& state) {
  state ^= state << 13, state ^= state >> 7, state ^= state << 17;
  return state;
}

template <typename Body>
void run_threads(int count, Body body) {
  std::vector<std::thread> threads;
  for (int i = 0; i < count; ++i) threads.emplace_back(body, i);
  for (std::thread& thread : threads) thread.join();
}

template <typename Body>
int timed_main(int count, char** arguments, Body body) {
  twin = count > 1 && strcmp(arguments[1], "twin") == 0;
  const auto begin = std::chrono::steady_clock::now();
  const uint64_t result = body();
  const auto us = std::chrono::duration_cast<std::chrono::microseconds>(std::chrono::steady_clock::now() - begin);
  printf("result %llu us %lld\n", static_cast<unsigned long long>(result), static_cast<long long>(us.count()));
  return 0;
}
