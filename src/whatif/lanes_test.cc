// Many variants at a time against one after the other: the same figures, to the nanosecond.
#include "graph/lanes.h"

#include <gtest/gtest.h>

#include "model/random_trace_for_test.h"
#include "model/text_trace.h"
#include "whatif/estimate.h"
#include "whatif/random_program.h"
#include "whatif/simulate.h"

namespace contrafact::whatif {
namespace {

using model::TaskId;
using model::Trace;

// Three disjoint sets of tasks, each once inlined and once made coordinators; some tasks in none.
std::vector<Improvement> random_improvements(const graph::TraceDag& dag, std::mt19937& random) {
  constexpr uint32_t kSets = 3;
  std::vector<Improvement> improvements(2 * kSets);
  for (uint32_t i = 0; i < kSets; ++i) improvements[2 * i + 1].optimisation = Optimisation::convert_to_combinator;
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
};

// Every combination of at most one improvement of each set.
void expect_same(const Trace& trace, uint32_t seed, Tally& tally) {
  base::Result<Estimator> estimator = Estimator::create(trace);
  if (!estimator) return;
  std::mt19937 random(seed);
  const graph::TraceDag& dag = estimator->dag();
  const std::vector<Improvement> improvements = random_improvements(dag, random);
  std::vector<graph::Move> moves;
  for (const Improvement& improvement : improvements) {
    const bool combinator = improvement.optimisation == Optimisation::convert_to_combinator;
    moves.push_back({improvement.tasks, combinator ? graph::Placement::continuation : graph::Placement::at_spawn});
  }
  std::vector<TaskId> outermost;
  for (uint32_t i = 0; i < dag.task_count(); i += 2) outermost.push_back(TaskId(i));
  const graph::LaneProgram program = graph::compile_lanes(dag, moves, outermost);
  if (!program.possible) return;
  graph::LaneRunner runner(program);
  Estimator::Scratch scratch(*estimator);
  std::vector<std::vector<uint32_t>> sets;
  for (uint32_t choice = 0; choice < 27; ++choice) {
    std::vector<uint32_t> set;
    for (uint32_t i = 0, rest = choice; i < 3; ++i, rest /= 3) {
      if (rest % 3 > 0) set.push_back(2 * i + rest % 3 - 1);
    }
    sets.push_back(set);
  }
  for (size_t first = 0; first < sets.size(); first += graph::kLanes) {
    const size_t count = std::min(graph::kLanes, sets.size() - first);
    std::vector<std::span<const uint32_t>> lanes(sets.begin() + static_cast<ptrdiff_t>(first),
                                                 sets.begin() + static_cast<ptrdiff_t>(first + count));
    std::vector<graph::LaneResult> results(count);
    runner.run(lanes, results);
    for (size_t lane = 0; lane < count; ++lane) {
      ++tally.lanes;
      if (!results[lane].exact) continue;
      ++tally.exact;
      Placements placements(dag.task_count(), graph::Placement::own_thread);
      for (uint32_t move : lanes[lane]) {
        for (TaskId task : moves[move].tasks) placements[task.index()] = moves[move].placement;
      }
      const graph::Propagated& one = scratch.propagator.run(placements, {.changes = true});
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
  EXPECT_GT(tally.exact * 2, tally.lanes) << tally.exact << " of " << tally.lanes;
}

// Three workers for every pool: most moves make one take its tasks in another order, which no lane can.
TEST(Lanes, RandomProgramsOnFinitePoolsToo) {
  Tally tally;
  for (uint32_t seed = 1; seed <= 200; ++seed) {
    expect_same(recorded(seed), seed, tally);
    if (HasFatalFailure()) return;
  }
  EXPECT_GT(tally.exact * 10, tally.lanes) << tally.exact << " of " << tally.lanes;
}

TEST(Lanes, DamagedTracesToo) {
  Tally tally;
  for (uint32_t seed = 1; seed <= 300; ++seed) {
    expect_same(model::random_trace(seed, 400), seed, tally);
    if (HasFatalFailure()) return;
  }
  EXPECT_GT(tally.exact, 0u) << tally.lanes;
}

}  // namespace
}  // namespace contrafact::whatif
