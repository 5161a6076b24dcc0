#include "recorder/event_clock.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <random>
#include <thread>
#include <vector>

namespace contrafact::recorder {
namespace {

constexpr int64_t kMs = 1'000'000;

// Two clocks of a machine that was made up: the counter runs at 2.6 GHz, the kernel's clock is off by `drift`.
struct Machine {
  uint64_t begin_ticks = __rdtsc();  // the clock that is tested compares with the processor's own
  double ticks = 0, ns = 1e15, drift = 0;

  void pass(double some_ns) {
    ticks += some_ns * 2.6;
    ns += some_ns * (1 + drift);
  }
  ClockPair pair(int64_t noise_ns = 0) const {
    return {begin_ticks + static_cast<uint64_t>(ticks), static_cast<int64_t>(ns) + noise_ns};
  }
};

// Reads and steers for `for_ms` as a drainer does; the largest difference from the kernel's clock. Time never goes
// back.
int64_t run(EventClock& clock, Machine& machine, int for_ms, int64_t& last_ns) {
  std::mt19937 random(1);
  std::uniform_int_distribution<int64_t> noise(-25, 25);
  int64_t worst_ns = 0;
  for (int i = 0; i < for_ms * 100; ++i) {
    machine.pass(10'000);
    const int64_t ns = clock.ns_at(machine.pair().ticks);
    EXPECT_GE(ns, last_ns) << i;
    last_ns = ns;
    worst_ns = std::max(worst_ns, std::abs(ns - machine.pair().ns));
    if (i % 2'000 == 0) clock.steer(machine.pair(noise(random)));
  }
  return worst_ns;
}

class MadeUpMachine : public testing::Test {
 protected:
  // Until the first line begins the clock asks the kernel of the real machine.
  void SetUp() override {
    clock_.start(true, machine_.pair());
    for (int i = 0; i < 2; ++i) {
      machine_.pass(20 * kMs);
      clock_.steer(machine_.pair());
    }
  }
  Machine machine_;
  EventClock clock_;
  int64_t last_ns_ = 0;
};

TEST_F(MadeUpMachine, FollowsTheKernelsClock) {
  machine_.drift = 0;
  EXPECT_LT(run(clock_, machine_, 20'000, last_ns_), 500);
  EXPECT_LT(clock_.error_ns(), 500);
}

TEST_F(MadeUpMachine, FollowsAnAdjustment) {
  run(clock_, machine_, 1'000, last_ns_);
  machine_.drift = 100e-6;
  run(clock_, machine_, 20'000, last_ns_);
  EXPECT_LT(run(clock_, machine_, 2'000, last_ns_), 500) << "once it is known";
  EXPECT_GT(clock_.error_ns(), 1'000) << "and what it was off by before is told";
}

TEST_F(MadeUpMachine, StepsAheadWhereTheCounterStoodStill) {
  run(clock_, machine_, 1'000, last_ns_);
  machine_.ns += 3e9;
  machine_.pass(60 * kMs);
  clock_.steer(machine_.pair());
  machine_.pass(20 * kMs);
  EXPECT_LT(run(clock_, machine_, 1, last_ns_), 10'000);
}

TEST_F(MadeUpMachine, NeverGoesBack) {
  run(clock_, machine_, 1'000, last_ns_);
  machine_.ns -= 5 * kMs;                                            // no kernel does that
  const int64_t worst_ns = run(clock_, machine_, 10'000, last_ns_);  // checks that it is monotone
  EXPECT_LE(worst_ns, 5 * kMs + 500) << "nor is it further off than that";
}

TEST_F(MadeUpMachine, WhatWasReadBeforeALineIsOnTheOneBefore) {
  run(clock_, machine_, 1'000, last_ns_);
  Machine before = machine_;
  machine_.drift = 500e-6;
  machine_.pass(60 * kMs);
  before.pass(60 * kMs);
  const int64_t expected_ns = clock_.ns_at(before.pair().ticks);
  clock_.steer(machine_.pair());  // draws a line that begins in 10 ms
  EXPECT_EQ(clock_.ns_at(before.pair().ticks), expected_ns);
  before.pass(9 * kMs);
  EXPECT_NEAR(static_cast<double>(clock_.ns_at(before.pair().ticks) - expected_ns), 9e6, 500);
}

// The clock of the real machine, as the agent runs it, and the kernel's around each reading of it.
TEST(EventClock, AgreesWithTheKernelsClock) {
  if (const char* why = why_not_the_counter()) GTEST_SKIP() << why;
  EventClock clock;
  clock.start(true, read_clock_pair());
  int64_t last_ns = 0, worst_ns = 0;
  for (const int64_t begin_ns = base::monotonic_ns(); base::monotonic_ns() < begin_ns + 400 * kMs;) {
    for (int i = 0; i < 1'000; ++i) {
      const int64_t before_ns = base::monotonic_ns();
      const int64_t ns = clock.now_ns();
      const int64_t after_ns = base::monotonic_ns();
      worst_ns = std::max({worst_ns, before_ns - ns, ns - after_ns});
      ASSERT_GE(ns, last_ns);
      last_ns = ns;
    }
    clock.steer(read_clock_pair());
  }
  EXPECT_GT(clock.error_ns(), 0) << "the counter was used";
  // Between two comparisons it may be off by a little more than at them: lines 50 ms long, of at most 1000 parts in
  // 10^6.
  EXPECT_LT(worst_ns, clock.error_ns() * 2 + 1'000);
}

TEST(EventClock, IsTheKernelsWithoutTheCounter) {
  EventClock clock;
  clock.start(false, read_clock_pair());
  for (int i = 0; i < 3; ++i) {
    const int64_t before_ns = base::monotonic_ns();
    const int64_t ns = clock.now_ns(), earlier_ns = clock.earlier_ns();
    const int64_t after_ns = base::monotonic_ns();
    EXPECT_LE(before_ns, ns);
    EXPECT_LE(ns, earlier_ns);
    EXPECT_LE(earlier_ns, after_ns);
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    clock.steer(read_clock_pair());
  }
}

// Threads hand a time round: whoever gets it reads a later one, or the same. Lines are drawn meanwhile. One that is
// drawn late promises less: as long as the drawing took, the slopes of two lines differ by 2 parts in 1000 at most.
TEST(EventClock, IsMonotoneBetweenThreads) {
  if (const char* why = why_not_the_counter()) GTEST_SKIP() << why;
  EventClock clock;
  clock.start(true, read_clock_pair());
  std::atomic<int64_t> handed{0};
  std::atomic<bool> end{false};
  std::atomic<int64_t> back_ns{0};  // at most
  const auto hand_round = [&] {
    while (!end.load(std::memory_order_relaxed)) {
      const int64_t got_ns = handed.load(std::memory_order_acquire);
      const int64_t now_ns = clock.now_ns();
      int64_t most_ns = back_ns.load(std::memory_order_relaxed);
      while (got_ns - now_ns > most_ns && !back_ns.compare_exchange_weak(most_ns, got_ns - now_ns)) {
      }
      int64_t expected = got_ns;
      handed.compare_exchange_strong(expected, now_ns, std::memory_order_acq_rel);
    }
  };
  std::vector<std::thread> threads;
  for (int i = 0; i < 3; ++i) threads.emplace_back(hand_round);
  int64_t drawing_ns = 0;  // at most
  for (int i = 0; i < 30; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    const int64_t before_ns = base::monotonic_ns();
    clock.steer(read_clock_pair());
    drawing_ns = std::max(drawing_ns, base::monotonic_ns() - before_ns);
  }
  end = true;
  for (std::thread& thread : threads) thread.join();
  EXPECT_LE(back_ns.load(), clock.late() == 0 ? 0 : drawing_ns / 500);
}

TEST(EventClock, GoesOnInAForkedChild) {
  if (const char* why = why_not_the_counter()) GTEST_SKIP() << why;
  EventClock clock;
  clock.start(true, read_clock_pair());
  for (int i = 0; i < 3; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(25));
    clock.steer(read_clock_pair());
  }
  const int64_t forked_ns = clock.now_ns();
  const pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    int64_t last_ns = forked_ns;
    bool sound = true;
    clock.start(true, read_clock_pair());
    for (int i = 0; i < 6; ++i) {
      const int64_t before_ns = base::monotonic_ns();
      const int64_t ns = clock.now_ns();
      const int64_t after_ns = base::monotonic_ns();
      sound = sound && ns >= last_ns && ns > before_ns - kMs && ns < after_ns + kMs;
      last_ns = ns;
      std::this_thread::sleep_for(std::chrono::milliseconds(25));
      clock.steer(read_clock_pair());
    }
    _exit(sound ? 0 : 1);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 0);
}

}  // namespace
}  // namespace contrafact::recorder
