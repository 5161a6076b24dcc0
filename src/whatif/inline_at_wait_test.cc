// Tasks that run where they are waited for: estimated, simulated, and refused.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "model/text_trace.h"
#include "whatif/batch.h"
#include "whatif/estimate.h"
#include "whatif/simulate.h"
#include "whatif/trace_for_test.h"

namespace contrafact::whatif {
namespace {

using model::TaskId;
using model::Trace;
using ::testing::HasSubstr;

base::Result<Estimate> estimated(const Trace& trace, std::vector<Improvement> improvements) {
  return estimator_of(trace).estimate(improvements, {.trace = true});
}

// t1 hands out t2 and t3 and waits for them in this order; main waits for t1.
constexpr std::string_view kTwo = R"(thread main
thread w1
thread w2
thread w3
pool p1 thread_pool 3
method m1 Example.serve Example.java:10
method m2 Example.first Example.java:20
method m3 Example.second Example.java:30
context c1 - m1:4
context c2 - m1:11
context c3 - m1:12
context c4 - m1:13
0 main thread_begin
0 w1 worker_idle p1
0 w2 worker_idle p1
0 w3 worker_idle p1
10 main task_spawn t1 c1 p1 m1
20 main wait_begin t1 c1
15 w1 worker_busy p1
16 w1 task_start t1
20 w1 task_spawn t2 c2 p1 m2
24 w1 task_spawn t3 c3 p1 m3
26 w1 method_enter m1
28 w1 wait_begin t2 c4
25 w2 worker_busy p1
26 w2 task_start t2
66 w2 task_complete t2
67 w2 task_end t2
68 w2 worker_idle p1
29 w3 worker_busy p1
30 w3 task_start t3
90 w3 task_complete t3
91 w3 task_end t3
92 w3 worker_idle p1
70 w1 wait_end t2
71 w1 method_exit m1
72 w1 wait_begin t3 c4
95 w1 wait_end t3
100 w1 task_complete t1
101 w1 task_end t1
102 w1 worker_idle p1
106 main wait_end t1
120 main thread_end
120 w1 worker_busy p1
120 w1 thread_end
120 w2 worker_busy p1
120 w2 thread_end
120 w3 worker_busy p1
120 w3 thread_end
)";

std::string events_of_thread(const Trace& trace, std::string_view thread) {
  const std::string text = model::print_text(trace);
  std::string events;
  for (size_t at = 0; at < text.size();) {
    const size_t end = text.find('\n', at);
    const std::string line = text.substr(at, end + 1 - at);
    if (line[0] >= '0' && line[0] <= '9' && line.find(" " + std::string(thread) + " ") != std::string::npos)
      events += line;
    at = end + 1;
  }
  return events;
}

TEST(InlineAtWait, TheSpawnerRunsItAfterWhatItHandsOutNext) {
  // Handing t2 out cost 2, which goes: t3 is handed out at 22. At 26 t1 asks for t2 and runs it, for its 41. It asks
  // for t3 at 69, which is there at 88, since it starts 6 after its spawn and takes 60; t1 goes on 5 later, as
  // recorded.
  base::Result<Estimate> estimate = estimated(trace_of(kTwo), {improvement(&kInlineAtWait, {2})});
  ASSERT_TRUE(estimate.ok()) << estimate.error().message;
  EXPECT_TRUE(model::verify(*estimate->trace).ok());
  EXPECT_EQ(events_of_thread(*estimate->trace, "w1"), R"(0 w1 worker_idle p1
15 w1 worker_busy p1
16 w1 task_start t1
22 w1 task_spawn t3 c3 p1 m3
24 w1 method_enter m1
26 w1 task_start t2
66 w1 task_complete t2
67 w1 task_end t2
67 w1 wait_begin t2 c4
67 w1 wait_end t2
68 w1 method_exit m1
69 w1 wait_begin t3 c4
93 w1 wait_end t3
98 w1 task_complete t1
99 w1 task_end t1
100 w1 worker_idle p1
118 w1 worker_busy p1
118 w1 thread_end
)");
  EXPECT_EQ(events_of_thread(*estimate->trace, "w2"), "");  // nobody needs it
  EXPECT_EQ(estimate->figures.duration_ns, 118);
  EXPECT_EQ(estimate->figures.peak_occupied, 3u);
  // The restored trace is one that can be estimated again.
  EXPECT_EQ(estimator_of(*estimate->trace).base().duration_ns, 118);
}

TEST(InlineAtWait, InlinedAtTheSpawnTheOtherComesLater) {
  base::Result<Estimate> at_spawn = estimated(trace_of(kTwo), {improvement(&kInline, {2})});
  ASSERT_TRUE(at_spawn.ok());
  EXPECT_EQ(at_spawn->figures.duration_ns, 159);
}

TEST(InlineAtWait, ACoordinatorDoesItToo) {
  // t1's first part runs on main from 10 on, with t2 at its wait; the rest where t3 completes.
  base::Result<Estimate> estimate =
      estimated(trace_of(kTwo), {improvement(&kCombinator, {1}), improvement(&kInlineAtWait, {2})});
  ASSERT_TRUE(estimate.ok()) << estimate.error().message;
  EXPECT_THAT(events_of_thread(*estimate->trace, "main"), HasSubstr("16 main task_spawn t3 c3 p1 m3\n"));
  EXPECT_THAT(events_of_thread(*estimate->trace, "main"), HasSubstr("20 main task_start t2\n"));
  EXPECT_THAT(events_of_thread(*estimate->trace, "w3"), HasSubstr("task_start t4\n"));
}

TEST(InlineAtWait, WithAnInlinedSpawnerItRunsOnThatOnesThread) {
  base::Result<Estimate> estimate =
      estimated(trace_of(kTwo), {improvement(&kInline, {1}), improvement(&kInlineAtWait, {2})});
  ASSERT_TRUE(estimate.ok()) << estimate.error().message;
  EXPECT_THAT(events_of_thread(*estimate->trace, "main"), HasSubstr("20 main task_start t2\n"));
  EXPECT_EQ(estimate->figures.peak_occupied, 2u);
}

TEST(InlineAtWait, OneTaskIsPlacedOnce) {
  base::Result<Estimate> estimate =
      estimated(trace_of(kTwo), {improvement(&kInline, {2}), improvement(&kInlineAtWait, {2})});
  ASSERT_FALSE(estimate.ok());
  EXPECT_THAT(estimate.error().message, HasSubstr("is changed otherwise by another improvement"));
}

Simulation simulated_at_wait(const Trace& trace, std::vector<uint32_t> at_wait, SimulateOptions options = {}) {
  Variant variant;
  variant.treatments.assign(trace.tasks.size(), Treatment::keep);
  for (uint32_t task : at_wait) variant.treatments[task - 1] = Treatment::inline_at_wait;
  base::Result<Simulation> simulation = simulate(trace, variant, options);
  EXPECT_TRUE(simulation.ok()) << simulation.error().message;
  return *std::move(simulation);
}

TEST(InlineAtWait, SimulatedItTakesNoWorker) {
  // With one worker for t2 and t3, t3 starts when t2 has ended, at 55; with t2 at its wait as it is handed out, at 18,
  // and handing t2 out, which took 2, is gone.
  const Trace trace = trace_of(kTwo);
  const SimulateOptions two_workers{
      .unlimited_cores = true, .pool_sizes = {{model::PoolId(0), 2}}, .recorded_latencies = false};
  const Simulation before = simulated_at_wait(trace, {}, two_workers),
                   after = simulated_at_wait(trace, {2}, two_workers);
  ASSERT_TRUE(before.stuck.empty() && after.stuck.empty());
  EXPECT_TRUE(model::verify(after.trace).ok());
  EXPECT_EQ(before.duration_ns - after.duration_ns, 55 - 18 + 2);
  const model::TaskRow& task = after.trace.tasks[1];
  EXPECT_EQ(after.trace.thread_of(task.start), after.trace.thread_of(after.trace.tasks[0].start));
  EXPECT_FALSE(task.pool.valid());
}

// t1 hands out t2, which hands out t3; t1 waits for t3 first.
constexpr std::string_view kCircle = R"(thread main
thread w1
thread w2
thread w3
pool p1 thread_pool 3
method m1 A.serve A.java:1
method m2 A.second A.java:2
method m3 A.third A.java:3
0 main task_spawn t1 - p1 m1
1 w1 task_start t1
2 w1 task_spawn t2 - p1 m2
3 w1 wait_begin t3
4 w2 task_start t2
6 w2 task_spawn t3 - p1 m3
8 w3 task_start t3
9 w2 task_end t2
10 w3 task_end t3
11 w1 wait_end t3
12 w1 wait_begin t2
13 w1 wait_end t2
14 w1 task_end t1
20 main thread_end
)";

TEST(InlineAtWait, WhatItSetsOffCannotBeWaitedForBefore) {
  const Trace trace = trace_of(kCircle);
  base::Result<Estimate> estimate = estimated(trace, {improvement(&kInlineAtWait, {2})});
  ASSERT_FALSE(estimate.ok());
  EXPECT_EQ(
      estimate.error().message,
      "would deadlock: task 0 (A.serve (A.java:1)) waits for task 2 (A.third (A.java:3)), which cannot run before "
      "it");
  EXPECT_FALSE(simulated_at_wait(trace, {2}).stuck.empty());
}

// main hands out t1 and t2, and blocks until t1 opens a latch for it, before it waits for t1.
constexpr std::string_view kLatch = R"(thread main
thread w1
thread w2
pool p1 thread_pool 2
method m1 A.main A.java:1
method m2 A.opens A.java:2
method m4 java.util.concurrent.CountDownLatch.await CountDownLatch.java:232
context c1 - m1:11
context latch c1 m4:232
0 main thread_begin
10 main task_spawn t1 c1 p1 m2
11 main task_spawn t2 c1 p1 m2
12 w1 task_start t1
13 w2 task_start t2
14 main block_begin park latch
20 w1 wake main
22 main block_end park
25 w1 task_end t1
26 w2 task_end t2
30 main wait_begin t1 c1
31 main wait_end t1
90 main thread_end
)";

TEST(InlineAtWait, ALatchThatItOpensHoldsItsSpawnerForEver) {
  base::Result<Estimate> estimate = estimated(trace_of(kLatch), {improvement(&kInlineAtWait, {1})});
  ASSERT_FALSE(estimate.ok());
  EXPECT_THAT(estimate.error().message, HasSubstr("would deadlock"));
}

std::string refusal(std::string_view text, uint32_t task) {
  base::Result<Estimate> estimate = estimated(trace_of(text), {improvement(&kInlineAtWait, {task})});
  return estimate.ok() ? "" : estimate.error().message;
}

std::string with(std::string_view text, std::string_view old_line, std::string_view new_lines) {
  std::string changed(text);
  const size_t at = changed.find(old_line);
  EXPECT_NE(at, std::string::npos);
  return changed.replace(at, old_line.size(), new_lines);
}

TEST(InlineAtWait, IsRefusedWhereNotOnlyItsSpawnerGetsItsResult) {
  EXPECT_THAT(refusal(kLatch, 2), HasSubstr("is waited for by nobody"));
  EXPECT_THAT(refusal(with(kTwo, "20 main wait_begin t1 c1\n",
                           "18 main wait_begin t3 c1\n94 main wait_end t3\n95 main wait_begin t1 c1\n"),
                      3),
              HasSubstr("is waited for by others than its spawner"));
  EXPECT_THAT(refusal(with(kTwo, "28 w1 wait_begin t2 c4\n",
                           "26 w1 wait_begin t2 c4\n27 w1 wait_end t2 timeout\n28 w1 wait_begin t2 c4\n"),
                      2),
              HasSubstr("a wait for it ended without its result"));
  EXPECT_THAT(refusal(with(kTwo, "24 w1 task_spawn t3 c3 p1 m3\n",
                           "24 w1 task_spawn t3 c3 p1 m3\n24 w1 task_create t4 c3\n24 w1 task_depends t4 t2 all\n"),
                      2),
              HasSubstr("sets off a stage"));
  EXPECT_EQ(refusal(kTwo, 3), "");
}

// Lanes cannot run a task at its wait: combinations with such a task are estimated alone, and all others together as
// ever.
TEST(InlineAtWait, IsEstimatedAloneAmongLanes) {
  const Trace trace = trace_of(kTwo);
  const Estimator estimator = estimator_of(trace);
  const std::vector<Improvement> improvements{improvement(&kInline, {1}), improvement(&kInline, {2}),
                                              improvement(&kInlineAtWait, {2}), improvement(&kInline, {3}),
                                              improvement(&kInlineAtWait, {3})};
  const Batch batch(estimator, improvements);
  ASSERT_TRUE(batch.has_lanes());
  Batch::Scratch scratch(batch);
  const std::vector<std::vector<uint32_t>> sets{{1}, {2}, {0, 2}, {1, 3}, {4}};
  std::vector<const std::vector<uint32_t>*> pointers;
  for (const std::vector<uint32_t>& set : sets) pointers.push_back(&set);
  const std::vector<base::Result<Figures>> figures = batch.figures(pointers, scratch);
  for (size_t i = 0; i < sets.size(); ++i) {
    std::vector<Improvement> chosen;
    for (uint32_t member : sets[i]) chosen.push_back(improvements[member]);
    base::Result<Estimate> one = estimator.estimate(chosen);
    ASSERT_TRUE(one.ok() && figures[i].ok()) << i;
    EXPECT_EQ(figures[i]->duration_ns, one->figures.duration_ns) << i;
  }
  EXPECT_EQ(scratch.alone, 3u);
}

}  // namespace
}  // namespace contrafact::whatif
