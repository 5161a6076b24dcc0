#include "whatif/screen.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "whatif/optimisations_for_test.h"
#include "whatif/random_program.h"

namespace contrafact::whatif {
namespace {

using model::TaskId;
using model::Trace;

// One for each task that may be moved: inlined, and where it waits also as a coordinator.
std::vector<Improvement> improvements_of(const graph::TraceDag& dag) {
  std::vector<Improvement> improvements;
  for (uint32_t i = 0; i < dag.task_count(); ++i) {
    improvements.push_back({.optimisation = &kInline, .tasks = {TaskId(i)}});
    if (!waits(dag, TaskId(i))) continue;
    improvements.push_back({.optimisation = &kInline, .tasks = {TaskId(i)}});
    improvements.back().optimisation = &kCombinator;
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

// The passes that are left out, where no hand-over is assumed or the figures are known, would have changed nothing.
TEST(Screen, AnIntervalIsThatOfAllItsPasses) {
  size_t left_out = 0;
  for (uint32_t seed = 1; seed <= 10; ++seed) {
    SCOPED_TRACE(seed);
    const Trace trace = recorded(seed);
    const Estimator estimator = *Estimator::create(trace);
    const graph::TraceDag& dag = estimator.dag();
    Estimator::Scratch scratch(estimator);
    for (const Improvement& improvement : improvements_of(dag)) {
      const base::Result<Estimate> whole = estimator.estimate(std::span(&improvement, 1));
      if (!whole) continue;
      left_out += !whole->figures.assumes;
      const base::Result<Placements> placements = estimator.place_all(std::span(&improvement, 1));
      int64_t low_ns = whole->figures.duration_ns, high_ns = low_ns;
      for (const graph::Latencies* latencies : {&dag.low, &dag.high}) {
        const graph::Propagated& bound = scratch.propagator.run(*placements, {.latencies = latencies});
        if (!bound.stuck.empty()) continue;
        const int64_t duration_ns = bound.end_ns + estimator.epilogue_ns() - trace.begin_ns();
        low_ns = std::min(low_ns, duration_ns);
        high_ns = std::max(high_ns, duration_ns);
      }
      EXPECT_EQ(whole->duration_low_ns, low_ns);
      EXPECT_EQ(whole->duration_high_ns, high_ns);
      const base::Result<Estimate> again = estimator.estimate(std::span(&improvement, 1), {.known = &whole->figures});
      ASSERT_TRUE(again.ok());
      EXPECT_EQ(again->duration_low_ns, low_ns);
      EXPECT_EQ(again->duration_high_ns, high_ns);
      EXPECT_EQ(again->notes, whole->notes);
    }
  }
  EXPECT_GT(left_out, 0u);
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
  EXPECT_TRUE(is_worth_restoring(trace));
}

}  // namespace
}  // namespace contrafact::whatif
