// Many variants at a time against one after the other: the same figures, to the nanosecond, on each kind of machine.
#include "graph/lanes.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "graph/lane_machine.h"
#include "model/random_trace_for_test.h"
#include "model/text_trace.h"
#include "whatif/estimate.h"
#include "whatif/optimisations_for_test.h"
#include "whatif/random_program.h"
#include "whatif/simulate.h"

namespace contrafact::whatif {
namespace {

using model::TaskId;
using model::Trace;

// Three disjoint sets of tasks, each once inlined and once made coordinators; some tasks in none.
std::vector<Improvement> improvements_by_chance(const graph::TraceDag& dag, std::mt19937& random) {
  constexpr uint32_t kSets = 3;
  std::vector<Improvement> improvements(2 * kSets, {.optimisation = &kInline});
  for (uint32_t i = 0; i < kSets; ++i) improvements[2 * i + 1].optimisation = &kCombinator;
  for (uint32_t i = 0; i < dag.task_count(); ++i) {
    const uint32_t set = random() % (kSets + 3);
    if (why_not_movable(dag, TaskId(i)) || set >= kSets) continue;
    improvements[2 * set].tasks.push_back(TaskId(i));
    if (waits(dag, TaskId(i))) improvements[2 * set + 1].tasks.push_back(TaskId(i));
  }
  return improvements;
}

struct Tally {
  size_t lanes = 0, exact = 0;
  // `regular`: variants in which no task leaves its worker's order or thread. `missed`: those of them that are not
  // exact. `missed_inlined`: the missed ones that make no task a coordinator.
  size_t regular = 0, missed = 0, missed_inlined = 0;
};

// Every combination of at most one improvement of each set.
void expect_same(const Trace& trace, uint32_t seed, Tally& tally) {
  base::Result<Estimator> estimator = Estimator::create(trace);
  if (!estimator) return;
  std::mt19937 random(seed);
  const graph::TraceDag& dag = estimator->dag();
  const std::vector<Improvement> improvements = improvements_by_chance(dag, random);
  std::vector<graph::Move> moves;
  for (const Improvement& improvement : improvements) {
    const bool combinator = improvement.optimisation == &kCombinator;
    moves.push_back({improvement.tasks, combinator ? graph::Placement::continuation : graph::Placement::at_spawn});
  }
  std::vector<TaskId> outermost;
  for (uint32_t i = 0; i < dag.task_count(); i += 2) outermost.push_back(TaskId(i));
  graph::LaneProgram program = graph::compile_lanes(dag, moves, outermost);
  if (!program.possible) return;
  EXPECT_EQ(program.lanes, graph::kLanes);
  program.lanes >>= seed % 3;  // as where memory is short
  const std::vector<const graph::LaneMachine*> machines = graph::lane_machines();
  graph::LaneRunner runner(program, *machines[seed % machines.size()]);
  Estimator::Scratch scratch(*estimator);
  std::vector<std::vector<uint32_t>> sets;
  for (uint32_t choice = 0; choice < 27; ++choice) {
    std::vector<uint32_t> set;
    for (uint32_t i = 0, rest = choice; i < 3; ++i, rest /= 3) {
      if (rest % 3 > 0) set.push_back(2 * i + rest % 3 - 1);
    }
    sets.push_back(set);
  }
  for (size_t first = 0; first < sets.size(); first += program.lanes) {
    const size_t count = std::min(program.lanes, sets.size() - first);
    std::vector<std::span<const uint32_t>> lanes(sets.begin() + static_cast<ptrdiff_t>(first),
                                                 sets.begin() + static_cast<ptrdiff_t>(first + count));
    std::vector<graph::LaneResult> results(count);
    runner.run(lanes, results);
    for (size_t lane = 0; lane < count; ++lane) {
      ++tally.lanes;
      Placements placements(dag.task_count(), graph::Placement::own_thread);
      for (uint32_t move : lanes[lane]) {
        for (TaskId task : moves[move].tasks) placements[task.index()] = moves[move].placement;
      }
      const graph::Propagated& one = scratch.propagator.run(placements, {.changes = true});
      const bool regular = one.stuck.empty() && one.reordered == 0 && one.detached == 0;
      tally.regular += regular;
      const bool coordinates = std::any_of(lanes[lane].begin(), lanes[lane].end(), [&](uint32_t move) {
        return moves[move].placement == graph::Placement::continuation;
      });
      tally.missed += regular && !results[lane].exact;
      tally.missed_inlined += regular && !results[lane].exact && !coordinates;
      if (!results[lane].exact) continue;
      ++tally.exact;
      SCOPED_TRACE("seed " + std::to_string(seed) + " set " + std::to_string(first + lane));
      ASSERT_TRUE(one.stuck.empty());
      ASSERT_EQ(results[lane].end_ns, one.end_ns);
      EXPECT_EQ(results[lane].active_ns, one.active_ns);
      EXPECT_EQ(results[lane].waiting_ns, one.waiting_ns);
      EXPECT_EQ(results[lane].peak_occupied, scratch.peaks.find(one.changes).occupied);
      int64_t response_ns = 0;
      for (TaskId task : outermost) {
        const int64_t completed_ns = scratch.propagator.completed_ns(task);
        const int64_t available_ns = scratch.propagator.available_ns(task);
        if (completed_ns != graph::kNever && available_ns != graph::kNever) response_ns += completed_ns - available_ns;
      }
      EXPECT_EQ(results[lane].response_ns, response_ns);
    }
  }
}

TEST(Lanes, RandomProgramsHaveTheFiguresOfEachVariantAlone) {
  Tally tally;
  for (uint32_t seed = 1; seed <= 200; ++seed) {
    expect_same(RandomProgram(seed).build(), seed, tally);
    if (HasFatalFailure()) return;
  }
  EXPECT_GT(tally.exact * 100, tally.lanes * 99) << tally.exact << " of " << tally.lanes;
  EXPECT_LT(tally.missed * 100, tally.regular) << tally.missed << " of " << tally.regular;
  EXPECT_EQ(tally.missed_inlined, 0u);
}

// Threads wait for locks, too: in lanes where a task comes before the section that its own waited for, no lane is exact.
TEST(Lanes, RandomProgramsWithLocksToo) {
  Tally tally;
  for (uint32_t seed = 1; seed <= 100; ++seed) {
    expect_same(recorded(seed, 1 + seed % 3), seed, tally);
    if (HasFatalFailure()) return;
  }
  EXPECT_GT(tally.exact * 32, tally.lanes) << tally.exact << " of " << tally.lanes;
}

// Three workers for every pool: many moves make one take its tasks in another order, which no lane can.
TEST(Lanes, RandomProgramsOnFinitePoolsToo) {
  Tally tally;
  for (uint32_t seed = 1; seed <= 200; ++seed) {
    expect_same(recorded(seed), seed, tally);
    if (HasFatalFailure()) return;
  }
  EXPECT_GT(tally.exact * 3, tally.lanes) << tally.exact << " of " << tally.lanes;
  EXPECT_LT(tally.missed * 5, tally.regular * 2) << tally.missed << " of " << tally.regular;
  EXPECT_EQ(tally.missed_inlined, 0u);
}

// A worker runs what its task spawned after that task, as fork-join pools do; and the first task of a pool starts the
// thread that runs it. Inlined, both come before what they come after in the recording.
TEST(Lanes, OrdersThatContradictEachOther) {
  const base::Result<Trace> trace = model::parse_text(R"(
thread main "main"
thread worker "worker"
pool p fork_join 1 1
0 main thread_begin
10 main task_spawn t1 - p
12 main task_spawn w
15 main wait_begin t1
20 worker thread_begin
22 worker task_start w
30 worker task_start t1
40 worker task_spawn t2 - p
50 worker task_spawn t3 - p
55 worker task_complete t1
60 worker task_end t1
65 main wait_end t1
66 main wait_begin t3
70 worker task_start t2
75 worker task_complete t2
90 worker task_end t2
95 worker task_start t3
97 worker task_end t3
99 main wait_end t3
120 main thread_end
130 worker task_end w
135 worker thread_end
)");
  ASSERT_TRUE(trace.ok()) << trace.error().message;
  Tally tally;
  for (uint32_t seed = 1; seed <= 20; ++seed) expect_same(*trace, seed, tally);
  EXPECT_EQ(tally.missed, 0u);
  EXPECT_GT(tally.regular * 2, tally.lanes) << tally.regular << " of " << tally.lanes;
}

// The same again and again: what one loop saves is not needed any more when the next one begins.
TEST(Lanes, LoopsThatFollowEachOtherSaveInOnePlace) {
  constexpr int kTimes = 20;
  std::string text = "thread main\nthread worker\npool p fork_join 1 1\n";
  for (int i = 0; i < kTimes; ++i) {
    const auto add = [&](int time_ns, const std::string& what, const std::string& task, const std::string& pool = "") {
      text += std::to_string(200 * i + time_ns) + " " + what + " " + task + "_" + std::to_string(i) + pool + "\n";
    };
    add(10, "main task_spawn", "t1", " - p");
    add(15, "main wait_begin", "t1");
    add(30, "worker task_start", "t1");
    add(40, "worker task_spawn", "t2", " - p");
    add(50, "worker task_spawn", "t3", " - p");
    add(60, "worker task_end", "t1");
    add(65, "main wait_end", "t1");
    add(66, "main wait_begin", "t3");
    add(70, "worker task_start", "t2");
    add(90, "worker task_end", "t2");
    add(95, "worker task_start", "t3");
    add(97, "worker task_end", "t3");
    add(99, "main wait_end", "t3");
  }
  const base::Result<Trace> trace = model::parse_text(text);
  ASSERT_TRUE(trace.ok()) << trace.error().message;
  base::Result<Estimator> estimator = Estimator::create(*trace);
  ASSERT_TRUE(estimator.ok());
  std::vector<TaskId> parts;
  for (uint32_t i = 0; i < trace->tasks.size(); ++i) {
    if (i % 3 != 0) parts.push_back(TaskId(i));
  }
  const graph::Move move{parts, graph::Placement::at_spawn};
  const graph::LaneProgram program = graph::compile_lanes(estimator->dag(), std::span(&move, 1), {});
  EXPECT_GE(program.loops.size(), size_t{kTimes});
  EXPECT_LE(program.loop_places.size(), 3u);
  for (const graph::LanePlace& place : program.loop_places) EXPECT_LE(place.slots, program.slots);
  Tally tally;
  for (uint32_t seed = 1; seed <= 20; ++seed) expect_same(*trace, seed, tally);
  EXPECT_EQ(tally.missed_inlined, 0u);

  // Where memory is short there are fewer at a time.
  std::set<size_t> lanes;
  const size_t most = graph::LaneRunner::bytes(program, graph::kLanes) + program.operations() * sizeof(graph::LaneOp);
  for (int i = 0; i <= 40; ++i) {
    const size_t bytes_max = most * static_cast<size_t>(i) / 40;
    const graph::LaneProgram less = graph::compile_lanes(estimator->dag(), std::span(&move, 1), {}, bytes_max);
    if (!less.possible) continue;
    EXPECT_LE(graph::LaneRunner::bytes(less, less.lanes), bytes_max);
    EXPECT_EQ(less.operations(), program.operations());
    lanes.insert(less.lanes);
  }
  EXPECT_THAT(lanes, testing::ElementsAre(4, 8, 16));
}

TEST(Lanes, DamagedTracesToo) {
  Tally tally;
  for (uint32_t seed = 1; seed <= 300; ++seed) {
    expect_same(model::random_trace(seed, 400), seed, tally);
    if (HasFatalFailure()) return;
  }
  EXPECT_GT(tally.exact * 10, tally.lanes * 9) << tally.exact << " of " << tally.lanes;
}

TEST(Lanes, TimesNearTheEndsOfTheirTypeToo) {
  Tally tally;
  for (uint32_t seed = 1; seed <= 100; ++seed) {
    expect_same(model::random_trace(seed, 400, true), seed, tally);
    if (HasFatalFailure()) return;
  }
  EXPECT_GT(tally.lanes, 0u);
}

}  // namespace
}  // namespace contrafact::whatif
