#include "whatif/screen.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "whatif/random_program.h"

namespace contrafact::whatif {
namespace {

using model::TaskId;
using model::Trace;

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

}  // namespace
}  // namespace contrafact::whatif
