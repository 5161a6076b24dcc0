#include "base/parallel.h"

#include <gtest/gtest.h>
#include <sys/resource.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <mutex>
#include <set>
#include <stdexcept>
#include <thread>
#include <vector>

namespace contrafact::base {
namespace {

TEST(OnThreads, CallsEachNumberOnceOnThreadsOfTheirOwn) {
  const std::thread::id caller = std::this_thread::get_id();
  std::mutex mutex;
  std::vector<size_t> numbers;
  std::set<std::thread::id> threads;
  on_threads(4, [&](size_t number) {
    const std::lock_guard guard(mutex);
    numbers.push_back(number);
    threads.insert(std::this_thread::get_id());
    EXPECT_EQ(number == 0, std::this_thread::get_id() == caller);
  });
  std::sort(numbers.begin(), numbers.end());
  EXPECT_EQ(numbers, (std::vector<size_t>{0, 1, 2, 3}));
  EXPECT_EQ(threads.size(), 4u);
}

TEST(OnThreads, TheCallerWorksEvenIfNoThreadIsAskedFor) {
  std::thread::id caller;
  on_threads(0, [&](size_t) { caller = std::this_thread::get_id(); });
  EXPECT_EQ(caller, std::this_thread::get_id());
}

TEST(OnThreads, WhatACallEndsWithIsThrown) {
  std::atomic<int> calls{0};
  EXPECT_THROW(on_threads(3,
                          [&](size_t number) {
                            ++calls;
                            if (number == 2) throw std::length_error("full");
                          }),
               std::length_error);
  EXPECT_EQ(calls, 3);
}

bool does_it_all_without_memory() {
  const rlimit none{1 << 20, 1 << 20};
  setrlimit(RLIMIT_AS, &none);
  std::atomic<int> calls{0}, of_caller{0};
  on_threads(8, [&](size_t number) {
    ++calls;
    of_caller += number == 0;
  });
  return calls == 1 && of_caller == 1;
}

// In a process of its own: the limit stays.
TEST(OnThreadsDeathTest, WhereNoThreadCanBeginTheCallerDoesItAll) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "a sanitizer's own memory for a thread ends the process where there is none";
#endif
  EXPECT_EXIT(std::_Exit(does_it_all_without_memory() ? 0 : 1), testing::ExitedWithCode(0), "");
}

}  // namespace
}  // namespace contrafact::base
