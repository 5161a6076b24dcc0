// Estimates by fixed assignment of runs whose tasks hold locks.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "whatif/estimate.h"
#include "whatif/trace_for_test.h"

namespace contrafact::whatif {
namespace {

using model::CriticalSection;
using model::Trace;
using testing::IsEmpty;

// Two workers; t1 and t2 hold one monitor for 100 ns each, t2 after t1. main waits for both.
constexpr std::string_view kTwoHolders = R"(
lock l monitor shop.Table.lock
thread main "main"
thread w1 "worker-1"
thread w2 "worker-2"
pool p thread_pool 2 2
0 main thread_begin
10 main task_spawn t1 - p
20 main task_spawn t2 - p
30 main wait_begin t1
0 w1 worker_idle p
15 w1 worker_busy p
15 w1 task_start t1
20 w1 lock_acquire l -
120 w1 lock_release l -
125 w1 task_end t1
0 w2 worker_idle p
25 w2 worker_busy p
25 w2 task_start t2
30 w2 lock_request l -
130 w2 lock_acquired l
230 w2 lock_release l -
235 w2 task_end t2
135 main wait_end t1
136 main wait_begin t2
245 main wait_end t2
250 main thread_end
)";

Estimate estimate_with(const Trace& trace, std::vector<uint32_t> tasks, const Optimisation& made = kInline) {
  base::Result<Estimate> estimate =
      estimator_of(trace).estimate(std::vector{improvement(&made, std::move(tasks))}, {.trace = true});
  EXPECT_TRUE(estimate.ok()) << (estimate.ok() ? "" : estimate.error().message);
  return estimate.ok() ? *std::move(estimate) : Estimate();
}

TEST(EstimateLocks, UnchangedIsAsRecorded) {
  const Trace trace = trace_of(kTwoHolders);
  base::Result<Estimate> estimate = estimator_of(trace).estimate({}, {.trace = true});
  ASSERT_TRUE(estimate.ok());
  EXPECT_EQ(estimate->trace->time_ns, trace.time_ns);
  EXPECT_EQ(estimate->trace->kind, trace.kind);
  EXPECT_EQ(estimate->figures.duration_ns, 250);
}

// t1 runs on main, before t2 is handed out: t2 asks for the monitor when it is free.
TEST(EstimateLocks, AnInlinedTaskTakesItsSectionAlong) {
  const Trace trace = trace_of(kTwoHolders);
  const Estimate estimate = estimate_with(trace, {1});
  const std::vector<CriticalSection> sections = model::critical_sections(*estimate.trace);
  ASSERT_EQ(sections.size(), 2u);
  EXPECT_EQ(sections[0].thread.value, 0u);
  EXPECT_EQ(sections[0].hold_ns(), 100);
  EXPECT_EQ(sections[1].thread.value, 2u);
  EXPECT_EQ(sections[1].hold_ns(), 100);
  EXPECT_EQ(sections[1].wait_ns(), 0);
  EXPECT_GE(sections[1].request_ns, sections[0].release_ns);
}

// t2 runs on main, which asks at 25 and waits there for as long as the worker did.
TEST(EstimateLocks, AnInlinedTaskWaitsWhereItRunsNow) {
  const Trace trace = trace_of(kTwoHolders);
  const Estimate estimate = estimate_with(trace, {2});
  const std::vector<CriticalSection> sections = model::critical_sections(*estimate.trace);
  ASSERT_EQ(sections.size(), 2u);
  EXPECT_EQ(sections[0].release_ns, 120);
  EXPECT_EQ(sections[1].thread.value, 0u);
  EXPECT_EQ(sections[1].request_ns, 25);
  EXPECT_EQ(sections[1].acquire_ns, 125);
  EXPECT_EQ(sections[1].release_ns, 225);
}

TEST(EstimateLocks, OnOneThreadNobodyWaits) {
  const Trace trace = trace_of(kTwoHolders);
  const Estimate estimate = estimate_with(trace, {1, 2});
  for (const CriticalSection& section : model::critical_sections(*estimate.trace)) EXPECT_EQ(section.wait_ns(), 0);
  EXPECT_EQ(estimate.figures.peak_occupied, 1u);
}

// t2, handed out first, got the monitor after t3. On main it runs before t3 is handed out, and t3 before t2 no more.
TEST(EstimateLocks, AnOrderThatCannotBeIsLeft) {
  const Trace trace = trace_of(R"(
lock l monitor shop.Table.lock
thread main "main"
thread w1 "worker-1"
thread w2 "worker-2"
pool p thread_pool 2 2
0 main thread_begin
10 main task_spawn t1 - p
20 main task_spawn t2 - p
30 main wait_begin t1
0 w1 worker_idle p
100 w1 worker_busy p
100 w1 task_start t1
110 w1 lock_request l -
160 w1 lock_acquired l
200 w1 lock_release l -
205 w1 task_end t1
0 w2 worker_idle p
25 w2 worker_busy p
25 w2 task_start t2
50 w2 lock_acquire l -
150 w2 lock_release l -
155 w2 task_end t2
215 main wait_end t1
216 main wait_begin t2
220 main wait_end t2
225 main thread_end
)");
  const Estimate estimate = estimate_with(trace, {1});
  const std::vector<CriticalSection> sections = model::critical_sections(*estimate.trace);
  ASSERT_EQ(sections.size(), 2u);
  EXPECT_EQ(sections[0].thread.value, 0u);
  EXPECT_EQ(sections[0].wait_ns(), 0);
  EXPECT_EQ(sections[0].hold_ns(), 40);
  EXPECT_EQ(sections[1].hold_ns(), 100);
}

// main inlines t2 long before t1 holds the monitor. It does not wait for that: nobody holds it yet, or not for longer.
TEST(EstimateLocks, AWaitIsNoLongerThanRecorded) {
  const Trace trace = trace_of(R"(
lock l monitor shop.Table.lock
thread main "main"
thread w1 "worker-1"
thread w2 "worker-2"
pool p thread_pool 2 2
0 main thread_begin
10 main task_spawn t1 - p
20 main task_spawn t2 - p
30 main wait_begin t1
0 w1 worker_idle p
15 w1 worker_busy p
15 w1 task_start t1
5000 w1 lock_acquire l -
5100 w1 lock_release l -
5105 w1 task_end t1
0 w2 worker_idle p
4990 w2 worker_busy p
4990 w2 task_start t2
5050 w2 lock_request l -
5110 w2 lock_acquired l
5210 w2 lock_release l -
5215 w2 task_end t2
5150 main wait_end t1
5151 main wait_begin t2
5225 main wait_end t2
5230 main thread_end
)");
  const Estimate estimate = estimate_with(trace, {2});
  for (const CriticalSection& section : model::critical_sections(*estimate.trace)) {
    EXPECT_LE(section.wait_ns(), 60);
    EXPECT_EQ(section.hold_ns(), 100);
  }
  EXPECT_LE(estimate.figures.duration_ns, 5230);
}

// Both readers wait for the writer, and go on when it is done.
TEST(EstimateLocks, OneReleaseLetsAllReadersGoOn) {
  const Trace trace = trace_of(R"(
lock l rwlock shop.Table.lock
thread main "main"
thread w1 "worker-1"
thread w2 "worker-2"
thread w3 "worker-3"
pool p thread_pool 3 3
0 main thread_begin
10 main task_spawn t1 - p
11 main task_spawn t2 - p
12 main task_spawn t3 - p
30 main wait_begin t1
0 w1 worker_idle p
15 w1 worker_busy p
15 w1 task_start t1
20 w1 lock_acquire l -
220 w1 lock_release l -
225 w1 task_end t1
0 w2 worker_idle p
25 w2 worker_busy p
25 w2 task_start t2
30 w2 lock_request_shared l -
230 w2 lock_acquired_shared l
300 w2 lock_release l -
305 w2 task_end t2
0 w3 worker_idle p
25 w3 worker_busy p
25 w3 task_start t3
40 w3 lock_request_shared l -
232 w3 lock_acquired_shared l
310 w3 lock_release l -
315 w3 task_end t3
235 main wait_end t1
236 main wait_begin t2
315 main wait_end t2
316 main wait_begin t3
325 main wait_end t3
330 main thread_end
)");
  const Estimate unchanged = estimate_with(trace, {});
  EXPECT_EQ(unchanged.trace->time_ns, trace.time_ns);
  const Estimate estimate = estimate_with(trace, {1});
  for (const CriticalSection& section : model::critical_sections(*estimate.trace)) EXPECT_EQ(section.wait_ns(), 0);
}

}  // namespace
}  // namespace contrafact::whatif
