// Properties of the simulation over random programs: trees of tasks that compute, spawn and wait.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <random>

#include "model/random_trace_for_test.h"
#include "model/result_waits.h"
#include "model/trace_builder.h"
#include "whatif/simulate.h"

namespace contrafact::whatif {
namespace {

using model::EventKind;
using model::TaskId;
using model::ThreadId;
using model::Trace;

// The last one only for tasks that are waited for.
constexpr std::array kTreatments{Treatment::keep, Treatment::inline_at_spawn, Treatment::combinator,
                                 Treatment::inline_at_wait};

// Records a random program as it runs without any limit: every task on a worker of its own, at once, on as many cores
// as it likes.
class RandomPoolProgram {
 public:
  RandomPoolProgram(uint32_t seed, bool inner_waits, format::PoolKind pool_kind)
      : random_(seed), inner_waits_(inner_waits) {
    body_ = builder_.add_method("shop.Job", "run", "Job.java", 3);
    context_ = builder_.add_context({}, body_, 5);
    pool_ = builder_.add_pool("pool", pool_kind, 4, 4);
    const ThreadId main = builder_.add_thread("main");
    builder_.add(main, EventKind::thread_begin, 0);
    const int64_t end_ns = record(main, 0, 0);
    builder_.add(main, EventKind::thread_end, end_ns);
  }

  Trace build() {
    base::Result<Trace> trace = builder_.build();
    EXPECT_TRUE(trace.ok());
    return std::move(*trace);
  }
  int64_t work_ns() const { return work_ns_; }

 private:
  struct Child {
    TaskId task;
    int64_t end_ns;
  };

  uint32_t below(uint32_t n) { return static_cast<uint32_t>(random_() % n); }

  // Returns when the run that began at `now_ns` is over; waits for every child of main's, and for some of the others.
  int64_t record(ThreadId thread, int64_t now_ns, int depth) {
    std::vector<Child> children;
    const uint32_t steps = depth == 0 ? 12 : below(5);
    for (uint32_t i = 0; i < steps; ++i) {
      if (depth > 0) now_ns = compute(thread, now_ns);
      if (depth < 4) children.push_back(spawn(thread, now_ns, depth));
    }
    std::shuffle(children.begin(), children.end(), random_);
    for (const Child& child : children) {
      if (depth > 0 && (!inner_waits_ || below(2) == 0)) continue;
      builder_.add(thread, EventKind::wait_begin, now_ns, child.task);
      now_ns = std::max(now_ns, child.end_ns);
      builder_.add(thread, EventKind::wait_end, now_ns, child.task);
      if (depth > 0) now_ns = compute(thread, now_ns);
    }
    return now_ns;
  }

  int64_t compute(ThreadId thread, int64_t now_ns) {
    const int64_t duration_ns = 1 + below(1000);
    if (below(3) == 0) {
      builder_.add(thread, EventKind::block_begin, now_ns,
                   {static_cast<uint32_t>(model::BlockReason::sleep), context_.value, 0, 0});
      builder_.add(thread, EventKind::block_end, now_ns + duration_ns,
                   {static_cast<uint32_t>(model::BlockReason::sleep), 0, 0, 0});
    } else {
      work_ns_ += duration_ns;
    }
    return now_ns + duration_ns;
  }

  Child spawn(ThreadId thread, int64_t now_ns, int depth) {
    const TaskId task = builder_.add_task();
    builder_.spawn(thread, now_ns, task, context_, pool_, body_);
    const ThreadId worker = builder_.add_thread("worker");
    builder_.add(worker, EventKind::task_start, now_ns, task);
    const int64_t end_ns = record(worker, now_ns, depth + 1);
    builder_.add(worker, EventKind::task_end, end_ns, task);
    return {task, end_ns};
  }

  std::mt19937 random_;
  const bool inner_waits_;
  model::TraceBuilder builder_;
  model::MethodId body_;
  model::ContextId context_;
  model::PoolId pool_;
  int64_t work_ns_ = 0;
};

Simulation simulated_random(const Trace& trace, const SimulateOptions& options) {
  base::Result<Simulation> result = simulate(trace, {}, options);
  EXPECT_TRUE(result.ok()) << (result.ok() ? "" : result.error().message);
  return std::move(*result);
}

size_t count(const Trace& trace, EventKind kind) {
  return static_cast<size_t>(std::count(trace.kind.begin(), trace.kind.end(), kind));
}

class RandomPrograms : public testing::TestWithParam<uint32_t> {};

// The recording was made without limits, so its times are those of the longest chain of dependences.
TEST_P(RandomPrograms, UnlimitedRunEqualsTheDependencesAlone) {
  const Trace trace = RandomPoolProgram(GetParam(), true, format::PoolKind::thread_pool).build();
  const Simulation result = simulated_random(trace, {.unlimited_cores = true, .unlimited_pools = true});
  ASSERT_THAT(result.stuck, testing::IsEmpty());
  EXPECT_EQ(result.duration_ns, trace.end_ns() - trace.begin_ns());
  for (size_t i = 0; i < trace.tasks.size(); ++i) {
    ASSERT_EQ(result.trace.time_ns[result.trace.tasks[i].start.index()], trace.time_ns[trace.tasks[i].start.index()])
        << i;
    ASSERT_EQ(result.trace.time_ns[result.trace.tasks[i].end.index()], trace.time_ns[trace.tasks[i].end.index()]) << i;
  }
}

TEST_P(RandomPrograms, NoTaskIsLostAndNoLimitBroken) {
  RandomPoolProgram program(GetParam(), false, format::PoolKind::thread_pool);
  const int64_t work_ns = program.work_ns();
  const Trace trace = program.build();
  const int64_t critical_ns = trace.end_ns() - trace.begin_ns();
  for (const uint32_t cores : {1u, 2u, 7u}) {
    const Simulation result = simulated_random(trace, {.cores = cores, .pool_sizes = {{model::PoolId(0), 3}}});
    ASSERT_THAT(result.stuck, testing::IsEmpty());
    EXPECT_TRUE(model::verify(result.trace).ok());
    EXPECT_EQ(count(result.trace, EventKind::task_start), trace.tasks.size());
    EXPECT_EQ(count(result.trace, EventKind::task_end), trace.tasks.size());
    EXPECT_EQ(result.cpu_ns, work_ns);
    EXPECT_GE(result.duration_ns, std::min(critical_ns, work_ns / cores));
    EXPECT_GE(result.duration_ns, work_ns / cores);
    EXPECT_EQ(count(result.trace, EventKind::thread_begin), 4u);
  }
}

TEST_P(RandomPrograms, ForkJoinWorkersHelpAndNeverStarve) {
  const Trace trace = RandomPoolProgram(GetParam(), true, format::PoolKind::fork_join).build();
  for (const uint32_t workers : {1u, 2u, 5u}) {
    const Simulation result = simulated_random(trace, {.cores = 2, .pool_sizes = {{model::PoolId(0), workers}}});
    ASSERT_THAT(result.stuck, testing::IsEmpty()) << result.stuck.front().reason;
    EXPECT_EQ(count(result.trace, EventKind::task_end), trace.tasks.size());
    EXPECT_EQ(result.trace.loss.notes.size(), trace.loss.notes.size());
  }
}

// Whatever is inlined, every task still runs once, and the work stays the same.
TEST_P(RandomPrograms, InlinedTasksRunOnce) {
  RandomPoolProgram program(GetParam(), true, format::PoolKind::thread_pool);
  const int64_t work_ns = program.work_ns();
  const Trace trace = program.build();
  std::mt19937 random(GetParam());
  std::vector<Treatment> treatments;
  const std::vector<model::ResultWait> waits = model::result_waits(trace);
  for (const model::ResultWait& wait : waits) {
    const bool asked = wait.asker == model::Asker::spawner;
    treatments.push_back(kTreatments[random() % (asked ? kTreatments.size() : kTreatments.size() - 1)]);
  }
  base::Result<Simulation> result =
      simulate(trace, {.treatments = {treatments.begin(), treatments.end()}}, {.cores = 2, .unlimited_pools = true});
  ASSERT_TRUE(result.ok());
  ASSERT_THAT(result->stuck, testing::IsEmpty()) << result->stuck.front().reason;
  EXPECT_EQ(result->cpu_ns, work_ns);
  EXPECT_TRUE(model::verify(result->trace).ok());
  for (size_t i = 0; i < trace.tasks.size(); ++i) {
    EXPECT_TRUE(result->trace.tasks[i].start.valid());
    EXPECT_EQ(result->trace.tasks[i].kind == model::TaskKind::pooled, treatments[i] == Treatment::keep);
  }
}

// Fewer events divide time into fewer pieces, whose shares of a core round a little differently.
TEST_P(RandomPrograms, MetricsAloneAreTheSame) {
  const Trace trace = RandomPoolProgram(GetParam(), true, format::PoolKind::fork_join).build();
  const Simulation with = simulated_random(trace, {.cores = 2});
  const Simulation without = simulated_random(trace, {.cores = 2, .build_trace = false});
  EXPECT_NEAR(static_cast<double>(with.duration_ns), static_cast<double>(without.duration_ns), 10.0);
  EXPECT_EQ(with.cpu_ns, without.cpu_ns);
  EXPECT_EQ(without.trace.event_count(), 0u);
}

// Whatever a damaged recording holds, the simulation ends, tells what got stuck, and its trace is one.
TEST(SimulateDamaged, AlwaysEndsWithAValidTrace) {
  size_t stuck = 0, ran = 0;
  for (uint32_t seed = 1; seed <= 3000; ++seed) {
    const Trace trace = model::random_trace(seed, 10 + seed % 150, seed % 4 == 0);
    std::mt19937 random(seed);
    std::vector<Treatment> treatments(trace.tasks.size(), Treatment::keep);
    for (size_t i = 0; i < treatments.size(); ++i) {
      const bool may = trace.tasks[i].kind == model::TaskKind::pooled && trace.tasks[i].start.valid();
      if (may) treatments[i] = kTreatments[random() % kTreatments.size()];
    }
    const base::Result<Simulation> result =
        simulate(trace, {.treatments = {treatments.begin(), treatments.end()}}, {.cores = 1 + seed % 3});
    ASSERT_TRUE(result.ok()) << seed << ": " << result.error().message;
    ASSERT_TRUE(model::verify(result->trace).ok()) << seed;
    stuck += !result->stuck.empty();
    ran += count(result->trace, EventKind::task_end) > 0;
  }
  EXPECT_GT(stuck, 0u);
  EXPECT_GT(ran, 1000u);
}

INSTANTIATE_TEST_SUITE_P(Seeds, RandomPrograms, testing::Range(1u, 26u));

}  // namespace
}  // namespace contrafact::whatif
