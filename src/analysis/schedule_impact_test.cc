#include "analysis/schedule_impact.h"

#include <gmock/gmock.h>

#include "analysis/flow_trace_for_test.h"

namespace contrafact::analysis {
namespace {

using testing::ElementsAre;

ScheduleImpact impact(const FlowsForTest& of, const ImpactOptions& options = {}) {
  return ScheduleImpacts(of.facts, of.flows, options).impact();
}

std::vector<int64_t> waits_ns(const ByRelation& times) {
  return {times[0].wait_ns, times[1].wait_ns, times[2].wait_ns};
}
std::vector<int64_t> runs_ns(const ByRelation& times) {
  return {times[0].run_ns, times[1].run_ns, times[2].run_ns};
}

// Figures 1 and 2: a pushes for b, c for d; all meet at the top of the stack. b and d wait for their own push alone.
TEST(ScheduleImpact, OfAStackOnlyPopsWaitForTheirPushes) {
  const ScheduleImpact stack = impact(FlowsForTest(
      one_after_the_other({kTop, kTop, kTop, kTop},
                          "20 b flow_into 2\n20 b flow_from 1 direct\n40 d flow_into 4\n40 d flow_from 3 direct\n")));
  EXPECT_THAT(waits_ns(stack.all), ElementsAre(60, 60, 20));
  EXPECT_THAT(runs_ns(stack.all), ElementsAre(40, 40, 20));
  ASSERT_EQ(stack.locks.size(), 1u);
  EXPECT_THAT(waits_ns(stack.locks[0].times), ElementsAre(60, 60, 20));
  EXPECT_EQ(stack.locks[0].pairs[graph::PairKind::conflict], 6u);
  EXPECT_EQ(stack.locks[0].pairs_with_flow, 2u);
  ASSERT_EQ(stack.sites.size(), 2u);
  EXPECT_THAT(stack.sites[0].wait_ns, ElementsAre(40, 40, 20));
  EXPECT_EQ(stack.overlapping, 4u);
}

TEST(ScheduleImpact, WithoutConflictsNobodyWaits) {
  const ScheduleImpact apart =
      impact(FlowsForTest(one_after_the_other({"0x100000008+4:rwc", "0x200000008+4:rwc"}, "")));
  EXPECT_THAT(waits_ns(apart.all), ElementsAre(10, 0, 0));
  EXPECT_THAT(runs_ns(apart.all), ElementsAre(20, 10, 10));
}

TEST(ScheduleImpact, WhatIsNotKnownKeepsItsOrder) {
  const ScheduleImpact hidden = impact(FlowsForTest(one_after_the_other({"-", "-"}, "")));
  EXPECT_THAT(waits_ns(hidden.all), ElementsAre(10, 10, 0));
  EXPECT_EQ(hidden.without_sets, 2u);
  const std::string untracked =
      "thread z\n0 z thread_begin\n0 z lock_request l c0\n20 z lock_acquired l\n"
      "25 z lock_release l\n25 z thread_end\n";
  const ScheduleImpact unknown = impact(FlowsForTest(one_after_the_other({kTop, kTop}, untracked)));
  EXPECT_EQ(unknown.without_flows, 1u);
  EXPECT_THAT(waits_ns(unknown.all), ElementsAre(30, 30, 10));
}

TEST(ScheduleImpact, ControlFlowsCountOnlyOnRequest) {
  const FlowsForTest of(one_after_the_other({kTop, kTop}, "50 b flow_into 2\n50 b flow_from 1 control\n"));
  EXPECT_THAT(waits_ns(impact(of).all), ElementsAre(10, 10, 0));
  EXPECT_THAT(waits_ns(impact(of, {.control = true}).all), ElementsAre(10, 10, 10));
}

TEST(ScheduleImpact, LooksAtTheLocksThatWereWaitedForLongest) {
  const FlowsForTest of(one_after_the_other({kTop, kTop}, ""));
  const ScheduleImpact none = impact(of, {.locks_max = 0});
  EXPECT_TRUE(none.locks.empty());
  EXPECT_EQ(none.not_priced, 1u);
}

TEST(ScheduleImpact, NamesWhatIsWaitedForUnderAnOrder) {
  const FlowsForTest of(one_after_the_other({kTop, kTop}, ""));
  const ScheduleImpacts impacts(of.facts, of.flows, {});
  EXPECT_THAT(impacts.wait_ns_by_lock(*impacts.order(Relation::locks)), ElementsAre(10));
  EXPECT_THAT(impacts.wait_ns_by_lock(*impacts.order(Relation::flows, impacts.only(model::LockId(0)))), ElementsAre(0));
}

}  // namespace
}  // namespace contrafact::analysis
