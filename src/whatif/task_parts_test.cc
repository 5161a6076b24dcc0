#include "whatif/task_parts.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "model/trace.h"
#include "whatif/simulated_text_for_test.h"

namespace contrafact::whatif {
namespace {

using model::TaskId;
using model::Trace;

// One task of 40 ms on a pool of two workers. It completes, wakes main, and ends.
constexpr std::string_view kOne =
    "cpu main 0 40000000 blocked\n"
    "0 main task_spawn t1 c1 p m2\n0 main task_handed\n0 main wait_begin t1 c1\n"
    "0 w1 worker_idle p\n0 w1 worker_busy p\n0 w1 task_start t1\n"
    "40000000 w1 task_complete t1\n40000000 w1 wake main\n40000000 w1 task_end t1\n40000000 w1 worker_idle p\n"
    "40000000 main wait_end t1\n50000000 main thread_end\n";

Simulation split(const Trace& trace, std::vector<TaskId> tasks, uint32_t parts) {
  base::Result<Simulation> result =
      simulate(trace, {.splits = {{std::move(tasks), parts}}}, {.recorded_latencies = false});
  EXPECT_TRUE(result.ok()) << (result.ok() ? "" : result.error().message);
  return result.ok() ? std::move(*result) : Simulation();
}

TEST(TaskParts, ThePartsShareTheTimeEvenly) {
  const Trace trace = parsed(kOne);
  const std::vector<TaskSplit> splits{{{TaskId(0)}, 4}};
  const std::optional<RunWithParts> run = with_task_parts(trace, splits);
  ASSERT_TRUE(run.has_value());
  EXPECT_TRUE(model::verify(run->trace).ok());
  EXPECT_THAT(run->part_of, testing::ElementsAre(TaskId(0), TaskId(0), TaskId(0), TaskId(0)));
  ASSERT_EQ(run->trace.tasks.size(), 5u);
  for (uint32_t part = 1; part <= 4; ++part) {
    EXPECT_EQ(start_of(run->trace, part), (part - 1) * 10'000'000);
    EXPECT_EQ(end_of(run->trace, part), part * 10'000'000);
    EXPECT_EQ(run->trace.tasks[part].body, trace.tasks[0].body);
    EXPECT_EQ(run->trace.tasks[part].kind, model::TaskKind::pooled);
  }
  EXPECT_EQ(run->trace.tasks[0].kind, model::TaskKind::stage);
  EXPECT_EQ(start_of(run->trace, 0), 40'000'000);
}

TEST(TaskParts, TwoWorkersShareATask) {
  const Simulation run = split(parsed(kOne), {TaskId(0)}, 2);
  EXPECT_TRUE(run.stuck.empty());
  EXPECT_EQ(run.duration_ns, 30'000'000);  // and main has 10 ms of its own
}

// With a third worker's share missing, the parts are handed out in turn.
TEST(TaskParts, ThreePartsOnTwoWorkers) {
  const Simulation run = split(parsed(kOne), {TaskId(0)}, 3);
  EXPECT_NEAR(static_cast<double>(run.duration_ns), 40e6 * 2 / 3 + 10e6, 10);
}

// The task waits for another one from 10 to 30 ms: a part does not begin there, but where the wait ends.
TEST(TaskParts, NoPartBeginsWithinAWait) {
  const Trace trace = parsed(
      "0 main task_spawn t1 c1 p m2\n0 main task_spawn t2 c1 p m3\n0 main wait_begin t1 c1\n40000000 main wait_end t1\n"
      "0 w1 task_start t1\n10000000 w1 wait_begin t2 c2\n30000000 w1 wait_end t2\n40000000 w1 task_complete t1\n"
      "40000000 w1 task_end t1\n"
      "0 w2 task_start t2\n30000000 w2 task_complete t2\n30000000 w2 task_end t2\n");
  const std::vector<TaskSplit> splits{{{TaskId(0)}, 2}};
  const std::optional<RunWithParts> run = with_task_parts(trace, splits);
  ASSERT_TRUE(run.has_value());
  EXPECT_EQ(end_of(run->trace, 2), 30'000'000);
  EXPECT_EQ(start_of(run->trace, 3), 30'000'000);
}

TEST(TaskParts, TimeOffTheCoreIsNoWork) {
  const Trace trace = parsed(std::string("cpu w1 0 20000000 blocked\n") + std::string(kOne));
  const std::vector<TaskSplit> splits{{{TaskId(0)}, 2}};
  const std::optional<RunWithParts> run = with_task_parts(trace, splits);
  ASSERT_TRUE(run.has_value());
  EXPECT_EQ(start_of(run->trace, 2), 30'000'000);
}

// Each part but the last costs its spawner what the task's own hand-out cost: 1 ms.
TEST(TaskParts, EachPartIsHandedOut) {
  std::string text(kOne);
  text.replace(text.find("0 main task_handed\n0 main wait_begin"), 36,
               "1000000 main task_handed\n1000000 main wait_begin");
  const Simulation run = split(parsed(text), {TaskId(0)}, 2);
  EXPECT_EQ(run.duration_ns, 31'000'000);  // the second part is handed out 1 ms after the first
}

// A thread computes for 40 ms; main joins it.
TEST(TaskParts, AThreadBecomesSeveral) {
  const Trace trace = parsed(
      "cpu main 0 40000000 blocked\n0 main task_spawn t1 c1 - m2\n0 main wait_begin t1 c1\n40000000 main wait_end t1\n"
      "0 w1 thread_begin\n0 w1 task_start t1\n40000000 w1 task_end t1\n40000000 w1 thread_end\n"
      "50000000 main thread_end\n");
  const std::vector<TaskSplit> splits{{{TaskId(0)}, 2}};
  const std::optional<RunWithParts> run = with_task_parts(trace, splits);
  ASSERT_TRUE(run.has_value());
  EXPECT_TRUE(model::verify(run->trace).ok()) << model::verify(run->trace).error().message;
  EXPECT_EQ(run->trace.threads.size(), trace.threads.size() + 1);
  EXPECT_EQ(run->trace.tasks[1].kind, model::TaskKind::thread);
  EXPECT_EQ(end_of(run->trace, 1), 20'000'000);
  EXPECT_EQ(start_of(run->trace, 2), 20'000'000);
  const Simulation result = split(trace, {TaskId(0)}, 2);
  EXPECT_TRUE(result.stuck.empty());
  EXPECT_EQ(result.duration_ns, 30'000'000);
  const base::Result<Simulation> as_recorded = simulate(trace, {.splits = splits});
  ASSERT_TRUE(as_recorded.ok());
  EXPECT_EQ(as_recorded->duration_ns, 30'000'000) << "a part begins as soon as a thread, not where it lies in its task";
}

TEST(TaskParts, NothingToSplit) {
  const Trace trace = parsed(kOne);
  EXPECT_FALSE(with_task_parts(trace, {}));
  const std::vector<TaskSplit> one{{{TaskId(0)}, 1}};
  EXPECT_FALSE(with_task_parts(trace, one));
}

}  // namespace
}  // namespace contrafact::whatif
