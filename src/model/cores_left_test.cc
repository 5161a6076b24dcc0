#include "model/cores_left.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <string>

#include "model/text_trace.h"

namespace contrafact::model {
namespace {

CoresLeft left(const std::string& facts, const std::string& rows) {
  const base::Result<Trace> trace = parse_text("fact cores 1\n" + facts + "thread w\n" + rows +
                                               "0 w block_begin sleep -\n1000000000 w block_end sleep\n");
  EXPECT_TRUE(trace.ok()) << (trace.ok() ? "" : trace.error().message);
  return trace.ok() ? cores_left(*trace, 100'000'000, 900'000'000) : CoresLeft();
}

// The thread is on its core for 2 of each 10 ms; the core is idle for the given part of it.
std::string rows(int64_t idle_us) {
  std::string text;
  for (int64_t i = 0; i < 100; ++i)
    text += fmt::format("cpu w {} {} blocked\n", 10'000'000 * i, 10'000'000 * i + 8'000'000);
  for (int64_t i = 1; i <= 10; ++i) text += fmt::format("cores_idle {} {}\n", 100'000'000 * i, idle_us * 10'000);
  return text;
}

TEST(CoresLeft, WhatIsNeitherIdleNorOwnIsOtherPrograms) {
  const CoresLeft some = left("", rows(5'000));
  EXPECT_EQ(some.reason, CoresLeft::Reason::other_programs);
  EXPECT_NEAR(some.share, 0.7, 0.01);
  EXPECT_GT(some.period_ns, 0);
}

TEST(CoresLeft, HalfIsLeftHoweverMuchOthersCompute) {
  EXPECT_EQ(left("", rows(0)).share, 0.5);
}

TEST(CoresLeft, ALittleIsTheKernels) {
  const CoresLeft all = left("", rows(7'700));
  EXPECT_EQ(all.share, 1);
  EXPECT_EQ(all.period_ns, 0);
}

TEST(CoresLeft, NothingIsSupposedWhereNothingIsTold) {
  EXPECT_EQ(left("", "").share, 1);
  EXPECT_EQ(left("fact cpu.switches.lost 3\n", rows(0)).share, 1);
}

TEST(CoresLeft, ALimitHolds) {
  const CoresLeft half = left("fact cpu.quota 0.50\n", rows(0));
  EXPECT_EQ(half.reason, CoresLeft::Reason::limit);
  EXPECT_EQ(half.share, 0.5);
  EXPECT_EQ(half.period_ns, 100'000'000);
  EXPECT_EQ(left("fact cpu.quota 1.00\n", "").share, 1);
  EXPECT_EQ(left("fact cpu.quota much\n", "").share, 1);
}

}  // namespace
}  // namespace contrafact::model
