// Properties of estimates over random programs, recorded on pools of finite size.
#include <gtest/gtest.h>

#include <algorithm>

#include "graph/lock_hand_overs.h"
#include "model/text_trace.h"
#include "whatif/estimate.h"
#include "whatif/optimisations_for_test.h"
#include "whatif/random_program.h"
#include "whatif/simulate.h"

namespace contrafact::whatif {
namespace {

using model::TaskId;
using model::Trace;

std::vector<Improvement> random_improvements(const Estimator& estimator, uint32_t seed, uint32_t one_in) {
  std::mt19937 random(seed);
  Improvement inlined{.optimisation = &kInline}, combined{.optimisation = &kCombinator},
      at_wait{.optimisation = &kInlineAtWait};
  for (uint32_t i = 0; i < estimator.dag().task_count(); ++i) {
    const TaskId task(i);
    if (why_not_movable(estimator.dag(), task) || random() % one_in != 0) continue;
    // Where main's dealings with tasks begin is looked at below: what it would hand out there stays.
    const graph::TraceDag& dag = estimator.dag();
    const bool by_main =
        dag.uses[dag.trace->thread_of(dag.trace->tasks[i].spawn).index()].role == model::ThreadRole::own;
    if (random() % 3 == 0 && dag.askers[i] == model::Asker::spawner && !by_main)
      at_wait.tasks.push_back(task);
    else if (random() % 2 == 0 && waits(estimator.dag(), task))
      combined.tasks.push_back(task);
    else
      inlined.tasks.push_back(task);
  }
  return {inlined, combined, at_wait};
}

class RandomEstimates : public testing::TestWithParam<uint32_t> {};

void expect_unchanged(const Trace& trace) {
  base::Result<Estimator> estimator = Estimator::create(trace);
  ASSERT_TRUE(estimator.ok()) << estimator.error().message;
  base::Result<Estimate> estimate = estimator->estimate({}, {.trace = true});
  ASSERT_TRUE(estimate.ok()) << estimate.error().message;
  ASSERT_EQ(estimate->trace->event_count(), trace.event_count());
  EXPECT_EQ(estimate->trace->kind, trace.kind);
  EXPECT_EQ(estimate->trace->time_ns, trace.time_ns);
  EXPECT_EQ(estimate->trace->a, trace.a);
  EXPECT_EQ(estimate->trace->b, trace.b);
  EXPECT_EQ(estimate->figures.reordered, 0u);
}

TEST_P(RandomEstimates, UnchangedGivesTheRecordedTrace) {
  expect_unchanged(recorded(GetParam()));
}

TEST_P(RandomEstimates, UnchangedGivesTheRecordedTraceOfTasksWithLocks) {
  for (const uint32_t locks : {1u, 3u}) {
    const Trace trace = recorded(GetParam(), locks);
    EXPECT_FALSE(graph::lock_hand_overs(trace).empty());
    expect_unchanged(trace);
  }
}

void expect_valid_variants(const Trace& trace, uint32_t seed) {
  base::Result<Estimator> estimator = Estimator::create(trace);
  ASSERT_TRUE(estimator.ok());
  for (uint32_t one_in : {1u, 2u, 5u}) {
    const std::vector<Improvement> improvements = random_improvements(*estimator, seed * 10 + one_in, one_in);
    base::Result<Estimate> estimate = estimator->estimate(improvements, {.trace = true});
    // Nobody waits for a task that is spawned later, so that no variant can deadlock.
    ASSERT_TRUE(estimate.ok()) << "one in " << one_in << ": " << estimate.error().message;
    EXPECT_EQ(estimate->trace->end_ns() - estimate->trace->begin_ns(), estimate->figures.duration_ns);
    EXPECT_LE(estimate->duration_low_ns, estimate->figures.duration_ns);
    EXPECT_GE(estimate->duration_high_ns, estimate->figures.duration_ns);
    EXPECT_TRUE(estimate->trace->loss.notes == trace.loss.notes) << testing::PrintToString(estimate->trace->loss.notes);
    // The restored trace is one that can be estimated again, and has the same figures.
    base::Result<Estimator> again = Estimator::create(*estimate->trace);
    ASSERT_TRUE(again.ok()) << again.error().message;
    EXPECT_EQ(again->base().duration_ns, estimate->figures.duration_ns);
    EXPECT_EQ(again->base().peak_occupied, estimate->figures.peak_occupied);
    EXPECT_NEAR(again->base().mean_active, estimate->figures.mean_active, 1e-3 * estimate->figures.mean_active);
  }
}

TEST_P(RandomEstimates, NoVariantLosesATaskOrBreaksAnInvariant) {
  expect_valid_variants(recorded(GetParam()), GetParam());
}

TEST_P(RandomEstimates, NorOneOfTasksWithLocks) {
  expect_valid_variants(recorded(GetParam(), 2), GetParam());
}

TEST_P(RandomEstimates, InliningEverythingIsTheSerialProgram) {
  const Trace trace = recorded(GetParam());
  base::Result<Estimator> estimator = Estimator::create(trace);
  ASSERT_TRUE(estimator.ok());
  Improvement all{.optimisation = &kInline};
  for (uint32_t i = 0; i < trace.tasks.size(); ++i) {
    if (!why_not_movable(estimator->dag(), TaskId(i))) all.tasks.push_back(TaskId(i));
  }
  base::Result<Estimate> estimate = estimator->estimate(std::vector{all}, {.trace = true});
  ASSERT_TRUE(estimate.ok()) << estimate.error().message;
  EXPECT_EQ(estimate->figures.peak_occupied, 1u);
  EXPECT_EQ(estimate->figures.peak_waiting <= 1u, true);
}

// On one thread nobody waits for a lock. Where a thread asked at the very moment of a release, what it waited for is not
// known, and stays.
TEST_P(RandomEstimates, InliningEverythingLeavesNoWaitForALock) {
  const Trace trace = recorded(GetParam(), 1);
  base::Result<Estimator> estimator = Estimator::create(trace);
  ASSERT_TRUE(estimator.ok());
  Improvement all{.optimisation = &kInline};
  for (uint32_t i = 0; i < trace.tasks.size(); ++i) {
    if (!why_not_movable(estimator->dag(), TaskId(i))) all.tasks.push_back(TaskId(i));
  }
  base::Result<Estimate> estimate = estimator->estimate(std::vector{all}, {.trace = true});
  ASSERT_TRUE(estimate.ok()) << estimate.error().message;
  const std::vector<model::CriticalSection> before = model::critical_sections(trace);
  const std::vector<model::CriticalSection> after = model::critical_sections(*estimate->trace);
  ASSERT_EQ(before.size(), after.size());
  int64_t waited_ns = 0, held_ns = 0, still_held_ns = 0, unknown_ns = 0;
  for (const model::CriticalSection& section : before) {
    held_ns += section.hold_ns();
    unknown_ns += section.wait_ns();
  }
  for (const graph::LockHandOver& known : graph::lock_hand_overs(trace))
    unknown_ns -= trace.time_ns[known.acquire.index()] - known.request_ns;
  for (const model::CriticalSection& section : after) {
    waited_ns += section.wait_ns();
    still_held_ns += section.hold_ns();
    EXPECT_EQ(section.thread, after.front().thread);
  }
  EXPECT_EQ(waited_ns, unknown_ns);
  EXPECT_EQ(still_held_ns, held_ns);
}

// Each awaited task runs where it is waited for: one thread, which never waits, takes the same time as if all were
// inlined at their spawns.
TEST_P(RandomEstimates, RunningAllAtTheirWaitsIsTheSerialProgramToo) {
  const Trace trace = recorded(GetParam());
  base::Result<Estimator> estimator = Estimator::create(trace);
  ASSERT_TRUE(estimator.ok());
  Improvement at_wait{.optimisation = &kInlineAtWait}, others{.optimisation = &kInline};
  for (uint32_t i = 0; i < trace.tasks.size(); ++i) {
    if (why_not_movable(estimator->dag(), TaskId(i))) continue;
    const bool asked = estimator->dag().askers[i] == model::Asker::spawner;
    (asked ? at_wait : others).tasks.push_back(TaskId(i));
  }
  base::Result<Estimate> estimate = estimator->estimate(std::vector{at_wait, others}, {.trace = true});
  ASSERT_TRUE(estimate.ok()) << estimate.error().message;
  EXPECT_EQ(estimate->figures.peak_occupied, 1u);
  Improvement all = others;
  all.tasks.insert(all.tasks.end(), at_wait.tasks.begin(), at_wait.tasks.end());
  std::ranges::sort(all.tasks);
  base::Result<Estimate> at_spawn = estimator->estimate(std::vector{all});
  ASSERT_TRUE(at_spawn.ok());
  EXPECT_EQ(estimate->figures.duration_ns, at_spawn->figures.duration_ns);
}

INSTANTIATE_TEST_SUITE_P(Seeds, RandomEstimates, testing::Range(1u, 101u));

}  // namespace
}  // namespace contrafact::whatif
