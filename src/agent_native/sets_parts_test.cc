// The parts of sets.cc that need no running program.
#include <gtest/gtest.h>

#include <atomic>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "agent_native/held_locks.h"
#include "agent_native/set_counts.h"
#include "agent_native/set_gaps.h"
#include "agent_native/time_window.h"

namespace contrafact::agent_native {
namespace {

using format::SetGap;
using translate::Reason;

TEST(TimeWindow, OpensAtTheBeginningOfEachPeriod) {
  const TimeWindow window{10, 40, 1000};
  for (const int64_t open_ns : {1000, 1009, 1040, 1089}) EXPECT_TRUE(window.is_open(open_ns)) << open_ns;
  for (const int64_t closed_ns : {1010, 1039, 1050}) EXPECT_FALSE(window.is_open(closed_ns)) << closed_ns;
  EXPECT_TRUE(TimeWindow().is_open(12345));
}

// A quarter of the time is observed: after 30 ns too many, the rest lasts for three times that.
TEST(TimeWindow, WhatOutlastsItRestsLonger) {
  const TimeWindow window{10, 40, 1000};
  EXPECT_EQ(window.rest_until_ns(1005, 1009), 0);
  EXPECT_EQ(window.rest_until_ns(1005, 1010), 0);
  EXPECT_EQ(window.rest_until_ns(1005, 1040), 1040 + 90);
  EXPECT_EQ(window.rest_until_ns(1045, 1060), 1060 + 30);
  EXPECT_EQ(TimeWindow().rest_until_ns(5, 1000), 0);
}

TEST(HeldLocks, InAnyOrderAndMoreThanOnce) {
  HeldLocks held;
  EXPECT_FALSE(held.holds_any());
  for (const uint64_t lock : {1, 2, 1}) held.take(lock);
  held.give_up(1);
  EXPECT_FALSE(held.holds_only(2));
  held.give_up(1);
  EXPECT_TRUE(held.holds_only(2));
  EXPECT_FALSE(held.holds_only(1));
  held.give_up(7);  // another thread's
  EXPECT_TRUE(held.holds_only(2));
  held.give_up(2);
  EXPECT_FALSE(held.holds_any());
  held.give_up(2);
  EXPECT_FALSE(held.holds_any());
}

TEST(HeldLocks, MoreThanItLists) {
  HeldLocks held;
  constexpr uint64_t kLocks = HeldLocks::kListedMax + 5;
  for (uint64_t lock = 0; lock < kLocks; ++lock) held.take(lock);
  for (uint64_t lock = kLocks; lock-- > 0;) {
    EXPECT_TRUE(held.holds_any());
    EXPECT_EQ(held.holds_only(0), lock == 0);
    held.give_up(lock);
  }
  EXPECT_FALSE(held.holds_any());
}

TEST(SetCounts, AreThoseOfAllThreadsThatEverWere) {
  SetCounts counts;
  constexpr int kThreads = 4, kTimes = 1000;
  for (int round = 0; round < 2; ++round) {
    std::vector<std::thread> threads;
    for (int i = 0; i < kThreads; ++i) {
      threads.emplace_back([&counts] {
        ThreadCounts* own = counts.take();
        for (int n = 0; n < kTimes; ++n) own->raise(n % 4 == 0 ? SetGap::signal : SetGap::complete);
        own->raise_outside();
        own->give_back();
      });
    }
    EXPECT_LE(counts.segments(SetGap::signal), 2u * kThreads * kTimes / 4);  // read while they are raised
    for (std::thread& thread : threads) thread.join();
  }
  EXPECT_EQ(counts.segments(SetGap::complete), 2u * kThreads * kTimes * 3 / 4);
  EXPECT_EQ(counts.segments(SetGap::signal), 2u * kThreads * kTimes / 4);
  EXPECT_EQ(counts.segments(SetGap::lost), 0u);
  EXPECT_EQ(counts.outside(), 2u * kThreads);
}

TEST(SetCounts, AnEndedThreadsAreUsedAgain) {
  SetCounts counts;
  ThreadCounts* const first = counts.take();
  ThreadCounts* const second = counts.take();
  EXPECT_NE(first, second);
  first->give_back();
  EXPECT_EQ(counts.take(), first);
}

TEST(SetGaps, EveryReasonHasAGapAndAName) {
  std::set<std::string> names;
  for (uint32_t i = 0; i < translate::kReasons; ++i) {
    const auto reason = static_cast<Reason>(i);
    names.insert(name_of(reason));
    EXPECT_EQ(gap_of(reason) == SetGap::complete, reason == Reason::none) << name_of(reason);
  }
  EXPECT_EQ(names.size(), translate::kReasons);
  names.clear();
  for (size_t i = 0; i <= static_cast<size_t>(format::kSetGapLast); ++i) names.insert(name_of(static_cast<SetGap>(i)));
  EXPECT_EQ(names.size(), static_cast<size_t>(format::kSetGapLast) + 1);
}

}  // namespace
}  // namespace contrafact::agent_native
