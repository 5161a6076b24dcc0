#include "analysis/cpu_use.h"

#include <gtest/gtest.h>

#include "analysis/text_trace_for_test.h"

namespace contrafact::analysis {
namespace {

using model::ThreadId;

constexpr const char* kTwoThreads =
    "fact cores 2\nthread x\nthread y\ncpu x 20 30 preempted\ncpu x 50 90 blocked\ncpu y 25 65 preempted\n"
    "0 x thread_begin\n0 y thread_begin\n100 x thread_end\n100 y thread_end\n";

TEST(CpuTimes, AreWhatTheKernelLeft) {
  const model::Trace trace = parsed(kTwoThreads);
  const CpuTimes times(trace);
  ASSERT_TRUE(times.known());
  EXPECT_EQ(times.cpu_ns(ThreadId(0), 0, 100), 50);
  EXPECT_EQ(times.cpu_ns(ThreadId(0), 25, 60), 20);
  EXPECT_EQ(times.cpu_ns(ThreadId(0), 55, 85), 0);
  EXPECT_EQ(times.cpu_ns(ThreadId(0), 95, 95), 0);
  const CpuUse x = times.of_thread(ThreadId(0));
  EXPECT_EQ(x.cpu_ns, 50);
  EXPECT_EQ(x.preempted_ns, 10);
  EXPECT_EQ(x.blocked_ns, 40);
  EXPECT_EQ(x.preemptions, 1u);
  EXPECT_EQ(x.blocks, 1u);
}

// x alone is preempted from 200 us, both from 250, y from 300 on: 50 us of one core, 50 of two, 350 of one.
TEST(ForeignShare, IsWhatOthersHadWhileThreadsWanted) {
  const model::Trace trace = parsed(
      "fact cores 2\nthread x\nthread y\ncpu x 200000 300000 preempted\ncpu x 500000 900000 blocked\n"
      "cpu y 250000 650000 preempted\n0 x thread_begin\n0 y thread_begin\n1000000 x thread_end\n1000000 y "
      "thread_end\n");
  EXPECT_DOUBLE_EQ(*foreign_share(trace), 50.0 / 200);
}

// Three threads on two cores: the third waits for the first two, not for others.
TEST(ForeignShare, IsNotTheProgramsOwn) {
  const model::Trace trace = parsed(
      "fact cores 2\nthread x\nthread y\nthread z\ncpu z 10 40 preempted\ncpu x 40 100 preempted\n"
      "0 x thread_begin\n0 y thread_begin\n0 z thread_begin\n100 x thread_end\n100 y thread_end\n100 z thread_end\n");
  EXPECT_DOUBLE_EQ(*foreign_share(trace), 0);
}

TEST(ForeignShare, IsNotKnownWithoutTheKernel) {
  EXPECT_FALSE(foreign_share(parsed("fact cores 2\nthread x\n0 x thread_begin\n9 x thread_end\n")).has_value());
  EXPECT_FALSE(CpuTimes(parsed("thread x\n0 x thread_begin\n")).known());
}

}  // namespace
}  // namespace contrafact::analysis
