// Simulations of tiny hand-written runs against results that a person can compute.
#include "whatif/simulate.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "model/text_trace.h"
#include "whatif/simulated_text_for_test.h"
#include "whatif/trace_for_test.h"

namespace contrafact::whatif {
namespace {

using model::Trace;

constexpr int64_t kMs = 1'000'000;

constexpr std::string_view kRows =
    "method m1 shop.Main.main Main.java:1\nmethod m2 shop.Job.run Job.java:1\n"
    "context c1 - m1:7\ncontext c2 - m2:9\n";

// `tasks` tasks of `length` ns each, all spawned at 0 by main, recorded one after the other on one worker; main waits
// for all.
std::string burst(int tasks, int64_t length, bool sleeping, int pool_size) {
  std::string text(kRows);
  text += "fact cores 2\npool p thread_pool " + std::to_string(pool_size) + " " + std::to_string(pool_size) + "\n";
  text += "thread main \"main\"\nthread w \"worker\"\n";
  for (int i = 0; i < tasks; ++i) text += "0 main task_spawn t" + std::to_string(i) + " c1 p m2\n";
  for (int i = 0; i < tasks; ++i) {
    const std::string name = "t" + std::to_string(i);
    const std::string begin = std::to_string(i * length), end = std::to_string((i + 1) * length);
    text += begin + " w task_start " + name + "\n";
    if (sleeping) text += begin + " w block_begin sleep c2\n" + end + " w block_end sleep\n";
    text += end + " w task_end " + name + "\n";
  }
  for (int i = 0; i < tasks; ++i) {
    const std::string name = "t" + std::to_string(i);
    text += std::to_string((i == 0 ? 0 : i) * length) + " main wait_begin " + name + " c1\n";
    text += std::to_string((i + 1) * length) + " main wait_end " + name + "\n";
  }
  return text;
}

TEST(Simulate, CpuTasksShareTheCores) {
  const Trace trace = trace_of(burst(10, kMs, false, 4));
  // 10 ms of work on 2 cores.
  EXPECT_EQ(simulated(trace, {.cores = 2}).duration_ns, 5 * kMs);
  EXPECT_EQ(simulated(trace, {.cores = 1}).duration_ns, 10 * kMs);
  // 4 workers on 4 cores: rounds of 4, 4 and 2 tasks.
  EXPECT_EQ(simulated(trace, {.cores = 4}).duration_ns, 3 * kMs);
  EXPECT_EQ(simulated(trace, {.unlimited_cores = true}).duration_ns, 3 * kMs);
  EXPECT_EQ(simulated(trace, {.unlimited_cores = true, .unlimited_pools = true}).duration_ns, kMs);
  EXPECT_EQ(simulated(trace, {.cores = 2}).cpu_ns, 10 * kMs);
}

TEST(Simulate, SleepingTasksNeedWorkersButNoCores) {
  const Trace trace = trace_of(burst(10, kMs, true, 4));
  EXPECT_EQ(simulated(trace, {.cores = 1}).duration_ns, 3 * kMs);
  EXPECT_EQ(simulated(trace, {.cores = 1, .pool_sizes = {{model::PoolId(0), 10}}}).duration_ns, kMs);
  EXPECT_EQ(simulated(trace, {.cores = 1, .pool_sizes = {{model::PoolId(0), 1}}}).duration_ns, 10 * kMs);
}

TEST(Simulate, InlineRunsOnTheSpawner) {
  const Trace trace = trace_of(burst(6, kMs, true, 4));
  const Simulation result = simulated(trace, {.cores = 2}, std::vector<Treatment>(6, Treatment::inline_at_spawn));
  EXPECT_EQ(result.duration_ns, 6 * kMs);
  EXPECT_THAT(result.stuck, testing::IsEmpty());
  for (const model::TaskRow& task : result.trace.tasks) {
    EXPECT_EQ(task.kind, model::TaskKind::stage);
    EXPECT_EQ(result.trace.thread_of(task.start), model::ThreadId(0));
    EXPECT_TRUE(task.spawn_context.valid());
  }
}

// Ten tasks of 5 us, one after the other, each handed to a sleeping worker and waited for. Waking takes 2 us at either
// side, and main's own code between two tasks 8 us.
std::string woken_rounds() {
  std::string text(kRows);
  text += "fact cores 2\npool p thread_pool 1 1\nthread main \"main\"\nthread w \"worker\"\n0 w worker_idle p\n";
  for (int64_t i = 0; i < 10; ++i) {
    const std::string task = " t" + std::to_string(i);
    const auto at = [&](int64_t ns, const std::string& what) {
      text += std::to_string(i * 20'000 + ns) + " " + what + "\n";
    };
    at(0, "main task_spawn" + task + " c1 p m2");
    at(10, "main wake w");
    at(2'010, "main wait_begin" + task + " c1");
    at(3'000, "w worker_busy p");
    at(3'000, "w task_start" + task);
    at(8'000, "w task_complete" + task);
    at(8'000, "w wake main");
    at(10'000, "w task_end" + task);
    at(10'000, "w worker_idle p");
    at(12'000, "main wait_end" + task);
  }
  return text + "200000 main thread_end\n";
}

TEST(Simulate, WhatIsCalledWakesNobody) {
  const Trace trace = trace_of(woken_rounds());
  EXPECT_EQ(simulated(trace, {.cores = 2}).duration_ns, 200'000);
  EXPECT_EQ(simulated(trace, {.cores = 2}, std::vector<Treatment>(10, Treatment::inline_at_spawn)).duration_ns,
            130'000);
}

TEST(Simulate, TraceIsValidAndLabelled) {
  const Simulation result = simulated(trace_of(burst(10, kMs, false, 4)), {.cores = 2});
  EXPECT_EQ(result.trace.origin, model::Origin::simulated);
  EXPECT_TRUE(model::verify(result.trace).ok());
  EXPECT_EQ(result.trace.end_ns() - result.trace.begin_ns(), result.duration_ns);
  EXPECT_EQ(result.trace.threads.size(), 5u);  // main and four workers
}

// An outer task that spawns an inner one in the same pool and waits for it; `outers` of them at time 0.
std::string nested(int outers, int pool_size) {
  std::string text(kRows);
  text += "fact cores 2\npool p thread_pool " + std::to_string(pool_size) + " " + std::to_string(pool_size) +
          "\nthread main\n";
  for (int i = 0; i < 2 * outers; ++i) text += "thread w" + std::to_string(i) + "\n";
  for (int i = 0; i < outers; ++i) {
    const std::string o = "o" + std::to_string(i), n = "n" + std::to_string(i);
    const std::string w = "w" + std::to_string(2 * i), v = "w" + std::to_string(2 * i + 1);
    text += "0 main task_spawn " + o + " c1 p m1\n";
    text += "0 " + w + " task_start " + o + "\n0 " + w + " task_spawn " + n + " c2 p m2\n";
    text += "0 " + w + " wait_begin " + n + " c2\n0 " + v + " task_start " + n + "\n";
    text +=
        "0 " + v + " block_begin sleep c2\n1000000 " + v + " block_end sleep\n1000000 " + v + " task_end " + n + "\n";
    text += "1000000 " + w + " wait_end " + n + "\n1000000 " + w + " task_end " + o + "\n";
  }
  for (int i = 0; i < outers; ++i) {
    const std::string o = "o" + std::to_string(i);
    text +=
        (i == 0 ? "0" : "1000000") + std::string(" main wait_begin ") + o + " c1\n1000000 main wait_end " + o + "\n";
  }
  return text;
}

TEST(Simulate, NestedSubmitsStarveASmallPool) {
  const Trace trace = trace_of(nested(2, 4));
  EXPECT_EQ(simulated(trace, {}).duration_ns, kMs);
  // Two workers: both hold outer tasks, and nobody is left for the inner ones.
  const Simulation starved = simulated(trace, {.pool_sizes = {{model::PoolId(0), 2}}});
  ASSERT_FALSE(starved.stuck.empty());
  std::string reasons;
  for (const StuckTask& task : starved.stuck) reasons += task.reason + "\n";
  EXPECT_THAT(reasons, testing::HasSubstr("waits for Job.run (Job.java:1)"));
  EXPECT_THAT(reasons, testing::HasSubstr("has no free worker"));
  // Three: the inner tasks run one after the other.
  EXPECT_EQ(simulated(trace, {.pool_sizes = {{model::PoolId(0), 3}}}).duration_ns, 2 * kMs);
}

// Both ways of freeing the outer tasks' workers end the starvation.
TEST(Simulate, InliningOrCombinatorsEndTheStarvation) {
  const Trace trace = trace_of(nested(2, 4));
  std::vector<Treatment> inline_inner(4, Treatment::keep), combine_outer(4, Treatment::keep);
  for (size_t i = 0; i < 4; ++i) {
    const bool inner = trace.method_label(trace.tasks[i].body).find("Job") != std::string::npos;
    (inner ? inline_inner[i] : combine_outer[i]) = inner ? Treatment::inline_at_spawn : Treatment::combinator;
  }
  const SimulateOptions two{.pool_sizes = {{model::PoolId(0), 2}}};
  const Simulation inlined = simulated(trace, two, inline_inner);
  EXPECT_THAT(inlined.stuck, testing::IsEmpty());
  EXPECT_EQ(inlined.duration_ns, kMs);
  const Simulation combined = simulated(trace, two, combine_outer);
  EXPECT_THAT(combined.stuck, testing::IsEmpty());
  EXPECT_EQ(combined.duration_ns, kMs);
  // Nobody but main waits for a task any more.
  size_t waits = 0;
  for (uint32_t i = 0; i < combined.trace.event_count(); ++i)
    waits += combined.trace.kind[i] == model::EventKind::wait_begin;
  EXPECT_EQ(waits, 2u);
}

TEST(Variant, ImprovementsBecomeTreatments) {
  const Trace trace = trace_of(nested(2, 4));
  const auto improvement = [](const Optimisation* optimisation, std::vector<model::TaskId> tasks) {
    Improvement result;
    result.optimisation = optimisation;
    result.tasks = std::move(tasks);
    return result;
  };
  const Improvement combine = improvement(&kCombinator, {model::TaskId(0)});
  const Improvement hoist = improvement(&kInline, {model::TaskId(1), model::TaskId(3)});
  const auto both = variant_of(trace, {}, std::vector{combine, hoist});
  ASSERT_TRUE(both.ok());
  EXPECT_THAT(both->treatments, testing::ElementsAre(Treatment::combinator, Treatment::inline_at_spawn, Treatment::keep,
                                                     Treatment::inline_at_spawn));
  const auto clash = variant_of(trace, {}, std::vector{combine, improvement(&kInline, {model::TaskId(0)})});
  ASSERT_FALSE(clash.ok());
  EXPECT_THAT(clash.error().message, testing::HasSubstr("exclude each other"));
  const auto missing = variant_of(trace, {}, std::vector{improvement(&kInline, {model::TaskId(99)})});
  ASSERT_FALSE(missing.ok());
  EXPECT_THAT(missing.error().message, testing::HasSubstr("no task 99"));
}

TEST(Simulate, SameInputSameBytes) {
  const Trace trace = trace_of(nested(8, 40));
  const SimulateOptions options{.cores = 2, .pool_sizes = {{model::PoolId(0), 11}}};
  EXPECT_EQ(model::print_text(simulated(trace, options).trace), model::print_text(simulated(trace, options).trace));
}

// Five times main hands a task to one idle worker and waits for it; the hand-overs there and back take what `ns` says.
std::string round_trips(const std::vector<int64_t>& ns) {
  std::string text(kRows);
  text += "fact cores 2\npool p thread_pool 1 1\nthread main\nthread w\n";
  int64_t now = 0;
  for (size_t i = 0; i < ns.size(); ++i) {
    const std::string task = "t" + std::to_string(i);
    const auto at = [&](int64_t time, const std::string& event) { text += std::to_string(time) + " " + event + "\n"; };
    at(now, "main task_spawn " + task + " c1 p m2");
    at(now, "main wait_begin " + task + " c1");
    now += ns[i];
    at(now, "w task_start " + task);
    at(now, "w block_begin sleep c2");
    now += 1000;
    at(now, "w block_end sleep");
    at(now, "w task_end " + task);
    now += ns[i];
    at(now, "main wait_end " + task);
  }
  return text;
}

// Four quick ones and a slow one, as on a busy machine: no typical time adds up to what they took.
TEST(Simulate, HandOversTakeTheirOwnTimes) {
  const Trace trace = trace_of(round_trips({70, 50, 9000, 50, 50}));
  const base::Result<BaselineCheck> check = check_baseline(trace);
  ASSERT_TRUE(check.ok());
  EXPECT_EQ(check->recorded_ns, 2 * 9220 + 5000);
  EXPECT_EQ(check->simulated_ns, check->recorded_ns);
  EXPECT_TRUE(check->trusted);
  // Without latencies, none; and an inlined task has none.
  EXPECT_EQ(simulated(trace, {.recorded_latencies = false}).duration_ns, 5000);
  EXPECT_EQ(simulated(trace, {}, std::vector<Treatment>(5, Treatment::inline_at_spawn)).duration_ns, 5000);
  // The slow one is inlined: the quick ones keep their times.
  std::vector<Treatment> slow(5, Treatment::keep);
  slow[2] = Treatment::inline_at_spawn;
  EXPECT_EQ(simulated(trace, {}, slow).duration_ns, 2 * 220 + 5000);
}

// Two tasks that compute on one core: the second's worker waits 1000 ns for the core, which the simulation shares out
// anew.
TEST(Simulate, WaitingForOwnCoresIsNoHandOver) {
  std::string text(kRows);
  text += "fact cores 1\npool p thread_pool 2 2\nthread main\nthread w\nthread v\n";
  text += "0 main task_spawn t0 c1 p m2\n0 main task_spawn t1 c1 p m2\n0 main wait_begin t1 c1\n";
  text += "10 w task_start t0\n1010 w task_end t0\n1020 v task_start t1\n2020 v task_end t1\n2020 main wait_end t1\n";
  const base::Result<BaselineCheck> check = check_baseline(trace_of(text));
  ASSERT_TRUE(check.ok());
  EXPECT_EQ(check->recorded_ns, 2020);
  EXPECT_GE(check->simulated_ns, 2010);
  EXPECT_LE(check->simulated_ns, 2040);
}

}  // namespace
}  // namespace contrafact::whatif
