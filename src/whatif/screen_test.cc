#include "whatif/screen.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "model/text_trace.h"
#include "whatif/path_keys.h"
#include "whatif/random_program.h"

namespace contrafact::whatif {
namespace {

using model::TaskId;
using model::Trace;
using ::testing::ElementsAre;

// One for each task that may be moved: inlined, and where it waits also as a coordinator.
std::vector<Improvement> improvements_of(const graph::TraceDag& dag) {
  std::vector<Improvement> improvements;
  for (uint32_t i = 0; i < dag.task_count(); ++i) {
    improvements.emplace_back().tasks = {TaskId(i)};
    if (!waits(dag, TaskId(i))) continue;
    improvements.emplace_back().tasks = {TaskId(i)};
    improvements.back().optimisation = Optimisation::convert_to_combinator;
  }
  return improvements;
}

TEST(Screen, HasTheFiguresOfEachImprovementByItself) {
  for (uint32_t seed = 1; seed <= 10; ++seed) {
    SCOPED_TRACE(seed);
    const Trace trace = recorded(seed);
    const Estimator estimator = *Estimator::create(trace);
    const std::vector<Improvement> improvements = improvements_of(estimator.dag());
    const std::vector<base::Result<Figures>> screened = screen(estimator, improvements);
    ASSERT_EQ(screened.size(), improvements.size());
    for (size_t i = 0; i < screened.size(); ++i) {
      const base::Result<Estimate> alone = estimator.estimate(std::span(&improvements[i], 1), {.interval = false});
      ASSERT_EQ(screened[i].ok(), alone.ok());
      if (!alone) continue;
      EXPECT_EQ(screened[i]->duration_ns, alone->figures.duration_ns);
      EXPECT_EQ(screened[i]->peak_occupied, alone->figures.peak_occupied);
      EXPECT_DOUBLE_EQ(screened[i]->mean_occupied, alone->figures.mean_occupied);
      EXPECT_DOUBLE_EQ(screened[i]->mean_response_ns, alone->figures.mean_response_ns);
    }
  }
}

// What the budget has no room for is neither a gain nor a loss, and it is the same on any number of threads.
TEST(Screen, SaysWhatIsBeyondTheBudget) {
  const Trace trace = recorded(3);
  const Estimator estimator = *Estimator::create(trace);
  std::vector<Improvement> improvements = improvements_of(estimator.dag());
  improvements.resize(3);  // too few for lanes: one by one
  std::vector<Improvement> many;
  for (size_t i = 0; i < 3; ++i) many.push_back(improvements[i]);
  const std::vector<base::Result<Figures>> none = screen(estimator, many, {.visits_max = 0});
  for (const base::Result<Figures>& figures : none) {
    ASSERT_FALSE(figures.ok());
    EXPECT_EQ(figures.error().message, kBeyondBudget);
  }
  const std::vector<base::Result<Figures>> all = screen(estimator, many, {.visits_max = 1, .threads = 1});
  EXPECT_TRUE(all[0].ok());
}

TEST(Screen, LongTracesHaveFewSimulations) {
  const Trace trace = recorded(3);
  EXPECT_GT(simulations_max(trace), 20u);
  const Estimator estimator = *Estimator::create(trace);
  EXPECT_EQ(default_visits(estimator), 32'000'000u);
  EXPECT_EQ(intervals_max(estimator, 0), 1u);
}

// A task's keys are its own, not those of a task that its thread runs inside it; and it goes on after that.
TEST(PathKeys, AreOfTheTaskItself) {
  const base::Result<Trace> trace = model::parse_text(R"(pool p fork_join 2
method m1 Job.run
method m2 Job.rest
context c1 - m1:1
context c2 - m1:2
context c3 - m1:3
thread w
0 w task_spawn a c1 p m1
1 w task_start a
2 w task_spawn b c2 p m1
3 w wait_begin b c3
4 w task_start b
5 w method_enter m2
6 w method_exit m2
7 w task_end b
8 w wait_end b
9 w task_spawn c c2 p m1
10 w task_end a
11 w task_start c
12 w method_enter m2
13 w method_exit m2
14 w task_end c
)");
  ASSERT_TRUE(trace.ok()) << trace.error().message;
  const PathKeyIndex index(*trace);
  const auto keys = [&](uint32_t task) { return index.keys(index.set_of(TaskId(task))); };
  using Kind = PathCondition::Kind;
  EXPECT_THAT(keys(0), ElementsAre(PathKey(Kind::spawns_at, 1), PathKey(Kind::waits_at, 2)));
  EXPECT_THAT(keys(1), ElementsAre(PathKey(Kind::enters_method, 1)));
  EXPECT_EQ(index.set_of(TaskId(1)), index.set_of(TaskId(2)));
  const std::vector<TaskId> branch{TaskId(1), TaskId(2)}, others{TaskId(0)};
  const std::vector<PathCondition> conditions = branch_conditions(index, branch, others);
  ASSERT_EQ(conditions.size(), 1u);
  EXPECT_EQ(conditions[0].method, model::MethodId(1));
  EXPECT_TRUE(conditions[0].holds);
}

}  // namespace
}  // namespace contrafact::whatif
