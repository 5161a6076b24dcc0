// What the virtual machine's own threads take of the cores, against results that a person can compute.
#include "whatif/sim_vm_work.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "model/text_trace.h"
#include "whatif/simulate.h"

namespace contrafact::whatif {
namespace {

constexpr int64_t kVmMs = 1'000'000;

model::Trace trace_of_one_worker(const std::string& text) {
  base::Result<model::Trace> trace = model::parse_text(
      "fact cores 2\nmethod m1 shop.Main.main Main.java:1\nmethod m2 shop.Job.run Job.java:1\ncontext c1 - m1:7\n"
      "pool p thread_pool 1 1\nthread main\nthread w1\n" +
      text);
  EXPECT_TRUE(trace.ok()) << (trace.ok() ? "" : trace.error().message);
  return trace.ok() ? std::move(*trace) : model::Trace();
}

double simulated_ms(const model::Trace& trace, uint32_t workers, uint32_t cores = 0) {
  Variant variant;
  variant.pool_sizes.push_back({model::PoolId(0), workers});
  base::Result<Simulation> result = simulate(trace, variant, {.cores = cores, .recorded_latencies = false});
  EXPECT_TRUE(result.ok()) << (result.ok() ? "" : result.error().message);
  return result.ok() ? static_cast<double>(result->duration_ns) / kVmMs : 0;
}

// One worker runs two tasks of 100 ms, one after the other. Main waits.
const std::string kTwoTasks =
    "cpu main 0 200000000 blocked\n"
    "0 main task_spawn t1 c1 p m2\n0 main task_spawn t2 c1 p m2\n0 main wait_begin t1 c1\n100000000 main wait_end t1\n"
    "100000000 main wait_begin t2 c1\n200000000 main wait_end t2\n200000000 main thread_end\n"
    "0 w1 worker_idle p\n0 w1 worker_busy p\n0 w1 task_start t1\n100000000 w1 task_complete t1\n100000000 w1 task_end "
    "t1\n"
    "100000000 w1 task_start t2\n200000000 w1 task_complete t2\n200000000 w1 task_end t2\n200000000 w1 worker_idle p\n";

// The most that the virtual machine's work may lag behind, by two cores.
constexpr double kLagMs = SimVmLoad::kLagNs / kVmMs / 2;

TEST(SimVmWork, WithoutItASecondWorkerHalvesTheRun) {
  const model::Trace trace = trace_of_one_worker(kTwoTasks);
  EXPECT_DOUBLE_EQ(simulated_ms(trace, 1), 200);
  EXPECT_DOUBLE_EQ(simulated_ms(trace, 2), 100);
}

// 200 ms of tasks and 200 of the compiler: no two cores do them in less than 200.
TEST(SimVmWork, ACompilerThatHadTheOtherCoreNeedsItStill) {
  const model::Trace trace = trace_of_one_worker("vm_ran 0 200000000\n" + kTwoTasks);
  EXPECT_DOUBLE_EQ(simulated_ms(trace, 1), 200);
  EXPECT_NEAR(simulated_ms(trace, 2), 200 - kLagMs, 0.1);
  EXPECT_NEAR(simulated_ms(trace, 2, 4), 100, 0.1) << "with four cores there is room for both";
}

TEST(SimVmWork, WhatItLeavesOfTheOtherCoreIsForASecondWorker) {
  const model::Trace trace = trace_of_one_worker("vm_ran 0 50000000\nvm_ran 100000000 150000000\n" + kTwoTasks);
  EXPECT_DOUBLE_EQ(simulated_ms(trace, 1), 200);
  // 300 ms of work. What lags at the end, nobody waits for: by the compiler's stint at the second task's beginning.
  EXPECT_NEAR(simulated_ms(trace, 2), 150, kLagMs + 0.1);
}

TEST(SimVmWork, OneCoreHasToDoItAll) {
  const model::Trace trace = trace_of_one_worker("vm_ran 0 200000000\n" + kTwoTasks);
  EXPECT_NEAR(simulated_ms(trace, 1, 1), 400 - 2 * kLagMs, 0.1);
}

// The program sleeps for 100 ms while the compiler works: it need not wait for it.
TEST(SimVmWork, WhileTheProgramSleepsItIsInNobodysWay) {
  const model::Trace trace = trace_of_one_worker(
      "vm_ran 50000000 150000000\ncpu w1 50000000 150000000 blocked\ncpu main 0 200000000 blocked\n"
      "0 main task_spawn t1 c1 p m2\n0 main wait_begin t1 c1\n200000000 main wait_end t1\n200000000 main thread_end\n"
      "0 w1 worker_idle p\n0 w1 worker_busy p\n0 w1 task_start t1\n200000000 w1 task_complete t1\n200000000 w1 "
      "task_end t1\n200000000 w1 worker_idle p\n");
  EXPECT_DOUBLE_EQ(simulated_ms(trace, 1), 200);
}

// The use of cores while the program is stopped is part of the stop.
TEST(SimVmWork, CollectorsDuringAStopAreTheStop) {
  const model::Trace trace = trace_of_one_worker(
      "pause 50000000 60000000\nvm_ran 50000000 60000000\nvm_ran 50000000 60000000\n"
      "cpu w1 50000000 60000000 blocked\n" +
      kTwoTasks);
  EXPECT_DOUBLE_EQ(simulated_ms(trace, 1), 200);
  EXPECT_EQ(VmWork(trace, {}).total_ns(), 0);
}

// The worker lost its core to the compiler for 40 of 200 ms, while main had the other one. Alone on two cores with the
// compiler it does not.
TEST(SimVmWork, ACoreThatItTookIsNotOtherPrograms) {
  const model::Trace trace = trace_of_one_worker(
      "vm_ran 100000000 140000000\ncpu w1 100000000 140000000 preempted\n"
      "0 main task_spawn t1 c1 p m2\n200000000 main wait_begin t1 c1\n200000000 main wait_end t1\n"
      "200000000 main thread_end\n"
      "0 w1 worker_idle p\n0 w1 worker_busy p\n0 w1 task_start t1\n200000000 w1 task_complete t1\n200000000 w1 "
      "task_end t1\n200000000 w1 worker_idle p\n");
  const base::Result<Simulation> result = simulate(trace, {}, {.recorded_latencies = false});
  ASSERT_TRUE(result.ok());
  EXPECT_EQ(result->cpu_ns, 360 * kVmMs);
  EXPECT_THAT(result->notes, testing::Not(testing::Contains(testing::HasSubstr("other programs"))));
  EXPECT_THAT(result->notes,
              testing::Contains(testing::HasSubstr("the JVM's own threads (compiler, collector) had 10 %")));
}

// A hostile trace may say anything.
TEST(SimVmWork, StintsThatEndBeforeTheyBeginAreNone) {
  model::Trace trace = trace_of_one_worker(kTwoTasks);
  trace.vm_stints = {{100, 50}, {INT64_MAX, INT64_MIN}, {-50, 10}};
  EXPECT_LE(VmWork(trace, {{0, 100, true}}).total_ns(), 10);
  EXPECT_GT(simulated_ms(trace, 1), 0);
}

// Of a program of which half is left, half of the work is left, at the same points.
TEST(SimVmWork, WhatThePartThatIsLeftOutCausedIsLeftOut) {
  const model::Trace trace = trace_of_one_worker("vm_ran 0 200000000\n" + kTwoTasks);
  VmWork work(trace, {{0, 200'000'000, true}});
  SimVmLoad whole(work, 2), skipping(work, 2);
  EXPECT_EQ(work.total_ns(), 200'000'000);
  whole.advance(100'000'000, 2);
  EXPECT_LT(whole.speed(2), 1) << "two threads and the compiler";
  skipping.leave_out(190'000'000);
  skipping.advance(10'000'000, 2);
  EXPECT_EQ(skipping.speed(2), 1) << "what lags is less than what anybody waits for";
  work.keep(0.5);
  EXPECT_EQ(work.total_ns(), 100'000'000);
  EXPECT_NEAR(work.pieces().back().until_ns, 100e6, 1);
}

}  // namespace
}  // namespace contrafact::whatif
