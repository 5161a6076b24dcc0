// Every analysis over traces of random events: they end, and what they return keeps its invariants.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "analysis/granularity.h"
#include "analysis/headroom.h"
#include "analysis/lock_profile.h"
#include "analysis/metric_set.h"
#include "analysis/starvation.h"
#include "analysis/task_classes.h"
#include "model/random_trace_for_test.h"

namespace contrafact::analysis {
namespace {

void check_usage(const model::Trace& trace) {
  const ThreadUsage usage = thread_usage(trace);
  for (size_t i = 1; i < usage.steps.size(); ++i) ASSERT_LT(usage.steps[i - 1].time_ns, usage.steps[i].time_ns);
  for (const UsageStep& step : usage.steps) {
    ASSERT_LE(step.total(), trace.threads.size());
    ASSERT_LE(step.blocked, step.active);
  }
  ASSERT_LE(usage.aggregates.total.mean, static_cast<double>(usage.aggregates.total.peak) + 1e-9);
  for (const Metric& metric : run_metrics(trace, usage)) ASSERT_GE(metric.value, 0) << metric.spec->name;
}

void check_classes(const model::Trace& trace) {
  uint64_t tasks = 0;
  for (const TaskClass& c : task_classes(trace)) {
    tasks += c.count;
    ASSERT_LE(c.wait.total_ns + c.block.total_ns, c.self_ns);
    ASSERT_LE(c.self_ns, c.duration.total_ns);
  }
  ASSERT_EQ(tasks, trace.tasks.size());
}

void check_granularity(model::Trace trace) {
  trace.facts.push_back({"cores", "2"});  // without it nothing is said of activity
  for (const bool aggregate : {true, false}) {
    const Granularity result = granularity(trace, {.aggregate = aggregate, .bins = 7, .drawn = 2});
    uint64_t tasks = result.executions.aggregated + result.worker_runs;
    for (const ClassGranularity& c : result.classes) {
      tasks += c.count;
      ASSERT_GT(c.count, 0u);
      ASSERT_GE(c.core.min_ns, 0);
      ASSERT_LE(c.activity.active_ns, result.run.run_ns);
      ASSERT_GE(c.activity.idle.all(), 0);
    }
    ASSERT_LE(tasks, trace.tasks.size());
  }
}

void check_locks(const model::Trace& trace) {
  const LockProfile profile = lock_profile(trace);
  ASSERT_GE(profile.run_ns, 0);
  ASSERT_GE(profile.critical_ns, 0);
  for (const LockRowStats& lock : profile.locks) {
    ASSERT_GE(lock.use.wait.total_ns, 0);
    ASSERT_GE(lock.use.hold.total_ns, 0);
    ASSERT_GE(lock.use.critical_ns, 0);
  }
}

void check_starvations(const model::Trace& trace) {
  const Starvations found = starvations(trace);
  for (const Starvation& starvation : found.starved) {
    uint32_t workers = 0;
    for (const StarvedWait& wait : starvation.waits) workers += wait.workers;
    ASSERT_EQ(workers, starvation.workers);
    ASSERT_GT(starvation.queued, 0u);
    ASSERT_LT(starvation.begin_ns, starvation.end_ns);
  }
  for (const StarvationRisk& risk : found.risks) ASSERT_LT(risk.waiting, risk.size);
}

void check(const model::Trace& trace) {
  ASSERT_NO_FATAL_FAILURE(check_usage(trace));
  ASSERT_NO_FATAL_FAILURE(check_classes(trace));
  ASSERT_NO_FATAL_FAILURE(check_granularity(trace));
  ASSERT_NO_FATAL_FAILURE(check_locks(trace));
  ASSERT_NO_FATAL_FAILURE(check_starvations(trace));
}

TEST(DamagedTraces, AnalysesKeepTheirInvariants) {
  for (uint32_t seed = 1; seed <= 2000; ++seed) {
    SCOPED_TRACE(seed);
    ASSERT_NO_FATAL_FAILURE(check(model::random_trace(seed, 10 + seed % 200)));
  }
}

TEST(DamagedTraces, TimesNearTheEndsOfTheirTypeOverflowNothing) {
  for (uint32_t seed = 1; seed <= 500; ++seed) {
    SCOPED_TRACE(seed);
    ASSERT_NO_FATAL_FAILURE(check(model::random_trace(seed, 10 + seed % 200, true)));
  }
}

}  // namespace
}  // namespace contrafact::analysis
