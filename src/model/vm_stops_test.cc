#include "model/vm_stops.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "model/text_trace.h"

namespace contrafact::model {
namespace {

using Gaps = std::vector<std::vector<int64_t>>;  // out, in (us), preempted, stopped

bool is_stopped(const Trace& trace, const CpuGap& gap) {
  return std::ranges::any_of(trace.pauses, [&](const Pause& pause) { return is_stop(gap, pause); });
}

Gaps gaps_of(const std::string& text) {
  base::Result<Trace> trace = parse_text("thread w\npool p thread_pool 1 1\n" + text);
  EXPECT_TRUE(trace.ok()) << (trace.ok() ? "" : trace.error().message);
  Gaps found;
  if (!trace.ok()) return found;
  // Cutting again changes nothing.
  Trace again = *trace;
  cut_stops(again);
  EXPECT_EQ(again.cpu[0].size(), trace->cpu[0].size());
  for (const CpuGap& gap : trace->cpu[0])
    found.push_back({gap.out_ns / 1000, gap.in_ns / 1000, gap.preempted, is_stopped(*trace, gap)});
  return found;
}

constexpr const char* kTask = "0 w task_start t1\n90000000 w task_end t1\n";

TEST(VmStops, AThreadThatWasStoppedThenWaitsForACore) {
  EXPECT_EQ(gaps_of(std::string("pause 12000000 20000000\ncpu w 10000000 50000000 blocked\n") + kTask),
            (Gaps{{10000, 12000, 1, 0}, {12000, 20000, 0, 1}, {20000, 50000, 1, 0}}));
}

TEST(VmStops, OneGapMayHoldTwoStops) {
  EXPECT_EQ(gaps_of(std::string("pause 10000000 11000000\npause 15000000 16000000\ncpu w 10000000 16000000 blocked\n") +
                    kTask),
            (Gaps{{10000, 11000, 0, 1}, {11000, 15000, 1, 0}, {15000, 16000, 0, 1}}));
}

TEST(VmStops, WhoSleptAlreadyGoesOnSleeping) {
  const Gaps asleep{{10000, 60000, 0, 0}};
  EXPECT_EQ(gaps_of(std::string("pause 50000000 55000000\ncpu w 10000000 60000000 blocked\n") + kTask), asleep);
  EXPECT_EQ(gaps_of("pause 12000000 20000000\ncpu w 10000000 60000000 blocked\n0 w task_start t1\n"
                    "9000000 w block_begin sleep\n61000000 w block_end sleep\n90000000 w task_end t1\n"),
            asleep);
  EXPECT_EQ(
      gaps_of(
          "pause 12000000 20000000\ncpu w 10000000 60000000 blocked\n0 w worker_idle p\n61000000 w worker_busy p\n"),
      asleep);
}

// A long read that a stop met: seconds are no wait for a core.
TEST(VmStops, WhoIsAwayForMuchLongerThanTheStopSlept) {
  EXPECT_EQ(gaps_of("pause 12000000 20000000\ncpu w 10000000 5000000000 blocked\n0 w task_start t1\n"
                    "6000000000 w task_end t1\n"),
            (Gaps{{10000, 5000000, 0, 0}}));
}

TEST(VmStops, WhoWasPreemptedStaysSo) {
  EXPECT_EQ(gaps_of(std::string("pause 12000000 20000000\ncpu w 10000000 50000000 preempted\n") + kTask),
            (Gaps{{10000, 50000, 1, 0}}));
}

}  // namespace
}  // namespace contrafact::model
