#include "analysis/warm_up.h"

#include <gtest/gtest.h>

#include <string>

#include "analysis/text_trace_for_test.h"

namespace contrafact::analysis {
namespace {

// 64 tasks one after the other; the first `cold` of them take ten times as long, 1000 us.
std::string tasks(int cold, bool asleep = false, const std::string& kernel = "cpu main 1 2 blocked\n") {
  std::string text = kernel;
  int64_t now_us = 0;
  for (int i = 0; i < 64; ++i) {
    const int64_t end_us = now_us + (i < cold ? 1000 : 100);
    const std::string name = "t" + std::to_string(i), begin = std::to_string(now_us * 1000),
                      end = std::to_string(end_us * 1000);
    text += "0 main task_spawn " + name + " c1 p m2\n" + begin + " w1 task_start " + name + "\n";
    if (asleep) text += "cpu w1 " + begin + " " + end + " blocked\n";
    text += end + " w1 task_end " + name + "\n";
    now_us = end_us;
  }
  return text;
}

TEST(WarmUp, WhatTheFirstTasksComputeLonger) {
  // 8 * 900 of 8 * 1000 + 56 * 100 us.
  EXPECT_NEAR(warm_up_share(parsed_with_rows(tasks(8))), 7200.0 / 13600, 1e-9);
  EXPECT_EQ(warm_up_share(parsed_with_rows(tasks(0))), 0);
}

TEST(WarmUp, AFewOddTasksAreNone) {
  EXPECT_EQ(warm_up_share(parsed_with_rows(tasks(3))), 0);
}

TEST(WarmUp, SleepingIsNoComputing) {
  EXPECT_EQ(warm_up_share(parsed_with_rows(tasks(8, true))), 0);
}

TEST(WarmUp, UnknownWithoutTheKernelsWord) {
  EXPECT_EQ(warm_up_share(parsed_with_rows(tasks(8, false, ""))), 0);
}

}  // namespace
}  // namespace contrafact::analysis
