// Gathered accesses, their bounds, a thread's own stack, and many threads.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <string>
#include <thread>
#include <vector>

#include "translate/accesses_for_test.h"

namespace contrafact::translate {
namespace {

int fibonacci(int n) {
  return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2);
}

volatile long g_read = 7, g_written, g_silent = 3, g_added, g_untouched;

void touch_globals() {
  g_written = g_read;
  g_silent = 3;
  __asm__ volatile("addq $5, %0" : "+m"(g_added)::"cc");
}

TEST(Translator, GathersReadsAndWrites) {
  const Gathered gathered = translated(touch_globals);
  EXPECT_EQ(gathered.left, Reason::none);
  EXPECT_EQ(flags_on(gathered, g_read), kReadOnly);
  EXPECT_EQ(flags_on(gathered, g_written), kChanging);
  EXPECT_EQ(flags_on(gathered, g_silent), kAccessWrite);
  EXPECT_EQ(flags_on(gathered, g_added), kReadOnly | kChanging | kAccessCommutative);
  EXPECT_EQ(flags_on(gathered, g_untouched), 0u);
  EXPECT_EQ(g_written, 7);
}

TEST(Translator, BitsAreSetAndCleared) {
  volatile long sets = 1, set_already = 4, clears = 5, both = 0;
  volatile long *const s = &sets, *const a = &set_already, *const c = &clears, *const b = &both;
  const Gathered gathered = translated([&] {
    __asm__ volatile("orq $4, %0\n\torq $4, %1\n\tandq $-5, %2\n\torq $1, %3\n\tandq $2, %3\n\txorl %%eax, %%eax"
                     : "+m"(*s), "+m"(*a), "+m"(*c), "+m"(*b)::"cc", "rax");
  });
  EXPECT_EQ(flags_on(gathered, sets), kReadOnly | kChanging | kAccessCommutative | kAccessSetsBits);
  EXPECT_EQ(flags_on(gathered, set_already), kReadOnly | kAccessWrite | kAccessCommutative | kAccessSetsBits);
  EXPECT_EQ(flags_on(gathered, clears), kReadOnly | kChanging | kAccessCommutative | kAccessClearsBits);
  EXPECT_EQ(flags_on(gathered, both), kReadOnly | kChanging);
}

TEST(Translator, AnAdditionWhoseOutcomeIsUsedDoesNotCommute) {
  bool zero = false;
  volatile long counter = 1;
  volatile long* const shared = &counter;
  const Gathered gathered = translated([&] {
    __asm__ volatile("lock decq %1\n\tsete %0" : "=r"(zero), "+m"(*shared)::"cc");
  });
  EXPECT_TRUE(zero);
  EXPECT_EQ(flags_on(gathered, counter), kReadOnly | kChanging | kAccessAtomic | kAccessFetched);
}

// Each kind of access to one word, in each order: only accesses that need no lock stay atomic.
TEST(Translator, AtomicAdditionsStayAtomicBesideTheirLike) {
  volatile long counter = 1;
  volatile long* const shared = &counter;
  long taken = 2;
  const auto add = [&] { __asm__ volatile("lock addq $1, %0" : "+m"(*shared)::"cc"); };
  const auto fetch = [&] { __asm__ volatile("lock xaddq %0, %1" : "+r"(taken), "+m"(*shared)::"cc"); };
  const auto read = [&] { __asm__ volatile("movq %1, %0" : "=r"(taken) : "m"(*shared)); };
  const auto store = [&] { __asm__ volatile("xchgq %0, %1" : "+r"(taken), "+m"(*shared)); };
  constexpr uint32_t kPlain = kReadOnly | kChanging;
  const auto flags_of = [&](auto first, auto second) {
    return flags_on(translated([&] {
                      first();
                      second();
                    }),
                    counter) &
           ~kAccessCommutative;
  };
  EXPECT_EQ(flags_of(add, add), kPlain | kAccessAtomic);
  EXPECT_EQ(flags_of(add, fetch), kPlain | kAccessAtomic);
  EXPECT_EQ(flags_of(fetch, fetch), kPlain | kAccessAtomic | kAccessFetched);
  EXPECT_EQ(flags_of(read, fetch), kPlain | kAccessFetched);
  EXPECT_EQ(flags_of(fetch, read), kPlain | kAccessFetched);
  for (const bool first : {true, false}) {  // a test, then an addition that does not look
    EXPECT_EQ(first ? flags_of(read, add) : flags_of(add, read), kPlain);
    EXPECT_EQ(first ? flags_of(store, fetch) : flags_of(fetch, store), kPlain);
  }
}

TEST(Translator, RunsTheLibrary) {
  std::string text;
  const Gathered gathered = translated([&] {
    std::vector<int> numbers(100);
    for (int i = 0; i < 100; ++i) numbers[static_cast<size_t>(i)] = i * 7919 % 100;
    std::sort(numbers.begin(), numbers.end());
    char buffer[100];
    snprintf(buffer, sizeof buffer, "%d %.3f %s", numbers[50], 3.14159, "text");
    text = buffer;
  });
  EXPECT_EQ(gathered.left, Reason::none);
  EXPECT_EQ(text, "50 3.142 text");
}

TEST(Bounds, ManyAccesses) {
  std::vector<long> numbers(1'600'000);
  long sum = 0;
  const auto add = [&](size_t count) {
    for (size_t i = 0; i < 16 * count; i += 16) sum += numbers[i] + 1;
  };
  Gathered gathered = translated([&] { add(100'000); });
  EXPECT_EQ(sum, 100'000);
  EXPECT_TRUE(gathered.overflown);
  EXPECT_EQ(gathered.left, Reason::overflow);
  gathered = translated([&] { add(100); });  // only that segment was cut short
  EXPECT_FALSE(gathered.overflown);
  EXPECT_EQ(gathered.left, Reason::none);
  EXPECT_GE(bytes_on(gathered, numbers[16]), 8u);
}

TEST(Bounds, ALongSectionIsGivenUp) {
  volatile long counter = 0;
  const Gathered gathered = translated([&] {
    for (int i = 0; i < 2'000'000; ++i) counter = counter + 1;
  });
  EXPECT_EQ(counter, 2'000'000);
  EXPECT_EQ(gathered.left, Reason::long_section);
}

TEST(Bounds, ACopyIsOneRange) {
  static uint8_t from[100'000], to[100'000];
  std::memset(from, 3, sizeof from);
  const Gathered gathered = translated([&] { std::memcpy(to, from, sizeof to); });
  EXPECT_EQ(std::memcmp(from, to, sizeof to), 0);
  EXPECT_EQ(bytes_on(gathered, to), sizeof to);
  EXPECT_FALSE(gathered.overflown);
}

// A coroutine's stack is not the thread's: memory below its stack pointer may be anybody's.
TEST(OwnStack, IsNotThatOfACoroutine) {
  translated([] {});  // attaches the thread
  fill(g_from, 1);
  Thread& thread = *t_thread.thread;
  thread.stack_begin = reinterpret_cast<uint64_t>(&g_from);
  thread.stack_end = thread.stack_begin + 1;
  const Gathered gathered = translated([] { g_to.bytes[0] = *const_cast<volatile uint8_t*>(g_from.bytes); });
  EXPECT_EQ(flags_on(gathered, g_from), kReadOnly);
  thread.stack_begin = thread.stack_end = 0;
}

TEST(OwnStack, HidesOnlyWhatLiesInIt) {
  static Segment segment;
  segment.begin();
  segment.add(2984, 16, kAccessWrite);  // the first of two that become one range
  segment.add(3000, 16, kAccessWrite);
  segment.add(1500, 8, kAccessWrite);  // lies within
  segment.set_private(1000, 2996);
  segment.add(2990, 10, kAccessRead);  // reaches out
  const auto ranges = segment.ranges();
  ASSERT_EQ(ranges.size(), 2u);
  EXPECT_EQ(ranges[0].begin, 2996u);
  EXPECT_EQ(ranges[0].length_bytes, 20u);
  EXPECT_EQ(ranges[1].begin, 2996u);
  EXPECT_EQ(ranges[1].length_bytes, 4u);
  segment.begin();
  segment.add(1500, 8, kAccessWrite);
  ASSERT_EQ(segment.ranges().size(), 1u);
}

// Of the frames that lie below where a segment began, those that still live where it ends are not its own.
TEST(OwnStack, HidesOnlyFramesThatHaveGone) {
  translated([] {});  // attaches the thread
  Thread& thread = *t_thread.thread;
  Translator& translator = test_translator();
  thread.stack_begin = 1000;
  thread.stack_end = 9000;
  const auto hidden = [&](uint64_t begin_sp, uint64_t end_sp, uint64_t address) {
    translator.begin_segment(begin_sp);
    translator.note(reinterpret_cast<void*>(address), 8, kAccessWrite);
    bool overflown;
    return translator.end_segment(end_sp, &overflown).empty();
  };
  EXPECT_TRUE(hidden(5000, 5000, 4000));
  EXPECT_FALSE(hidden(5000, 5000, 5000));
  EXPECT_FALSE(hidden(5000, 3000, 4000));  // its frame lives on
  EXPECT_FALSE(hidden(5000, 6000, 5500));  // its frame was there before
  EXPECT_TRUE(hidden(5000, 6000, 4000));
  EXPECT_FALSE(hidden(5000, 20'000, 4000));  // ends on another stack
  thread.stack_begin = thread.stack_end = 0;
}

TEST(Threads, RunAtOnce) {
  std::atomic<int> wrong{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&] {
      for (int i = 0; i < 200; ++i) {
        int out = 0;
        const Gathered gathered = translated([&] { out = fibonacci(10) + static_cast<int>(std::to_string(i).size()); });
        if (out != 55 + (i < 10 ? 1 : i < 100 ? 2 : 3) || gathered.left != Reason::none) ++wrong;
      }
      test_translator().detach();
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(wrong, 0);
}

// All code is forgotten, again and again, between their segments. How often that succeeds depends on which thread runs
// when, so the threads go on until it has succeeded often enough.
TEST(Threads, RunWhileTheCacheIsCleared) {
  if (is_emulated())
    GTEST_SKIP() << "qemu-user does not see that code is replaced through another mapping of its memory";
  const auto clears = [begin = test_translator().statistics().clears] {
    return test_translator().statistics().clears - begin;
  };
  const auto limit = std::chrono::steady_clock::now() + std::chrono::seconds(60);
  std::atomic<int> wrong{0}, inside{0};
  std::atomic<bool> enough{false};
  std::vector<std::thread> threads;
  for (int t = 0; t < 3; ++t) {
    threads.emplace_back([&] {
      for (int i = 0; !enough; i = (i + 1) % 10) {
        int out = 0;
        const Gathered gathered = translated([&] { out = fibonacci(8) + static_cast<int>(std::to_string(i).size()); });
        if (out != 22) ++wrong;
        inside += gathered.left == Reason::none;
        if (i == 0) test_translator().clear();
      }
      test_translator().detach();
    });
  }
  while ((clears() < 4 || inside < 1'000) && std::chrono::steady_clock::now() < limit) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  enough = true;
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(wrong, 0);
  EXPECT_GE(inside, 1'000);
  EXPECT_GE(clears(), 4u);
}

}  // namespace
}  // namespace contrafact::translate
