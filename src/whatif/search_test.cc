#include "whatif/search.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "model/text_trace.h"
#include "model/trace_builder.h"

namespace contrafact::whatif {
namespace {

using model::EventKind;
using model::PoolId;
using model::TaskId;
using model::ThreadId;
using model::Trace;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

// Main hands out `count` tasks one after the other and waits for each at once: each is best inlined.
Trace waiting_program(uint32_t count) {
  model::TraceBuilder builder;
  const ThreadId main = builder.add_thread("main");
  const ThreadId worker = builder.add_thread("worker");
  const PoolId pool = builder.add_pool("p", format::PoolKind::thread_pool, 1, 1);
  int64_t now_ns = 0;
  builder.add(main, EventKind::thread_begin, now_ns);
  for (uint32_t i = 0; i < count; ++i) {
    const TaskId task = builder.add_task();
    builder.spawn(main, now_ns += 100, task, {}, pool, {});
    builder.add(main, EventKind::wait_begin, now_ns + 10, task);
    builder.add(worker, EventKind::task_start, now_ns + 20, task);
    builder.add(worker, EventKind::task_end, now_ns += 20 + 50 * (i + 1), task);
    builder.add(main, EventKind::wait_end, now_ns += 15, task);
  }
  builder.add(main, EventKind::thread_end, now_ns + 100);
  return *builder.build();
}

std::vector<Improvement> one_each(uint32_t count) {
  std::vector<Improvement> improvements(count);
  for (uint32_t i = 0; i < count; ++i) improvements[i].tasks = {TaskId(i)};
  return improvements;
}

TEST(Search, ExhaustiveFindsThatAllHelp) {
  const Trace trace = waiting_program(4);
  const Estimator estimator = *Estimator::create(trace);
  const SearchResult result = search(estimator, one_each(4));
  EXPECT_TRUE(result.exhaustive);
  EXPECT_EQ(result.estimated, 15u);
  ASSERT_FALSE(result.best.empty());
  EXPECT_THAT(result.best[0].improvements, ElementsAre(0, 1, 2, 3));
  EXPECT_EQ(result.best[0].figures.peak_occupied, 1u);
  EXPECT_LT(result.best[0].score, 1);
}

TEST(Search, ClimbingFindsTheSame) {
  const Trace trace = waiting_program(20);
  const Estimator estimator = *Estimator::create(trace);
  SearchOptions options;
  const SearchResult result = search(estimator, one_each(20), options);
  EXPECT_FALSE(result.exhaustive);
  ASSERT_FALSE(result.best.empty());
  EXPECT_EQ(result.best[0].improvements.size(), 20u);
  options.threads = 1;
  const SearchResult again = search(estimator, one_each(20), options);
  ASSERT_EQ(again.best.size(), result.best.size());
  for (size_t i = 0; i < result.best.size(); ++i) EXPECT_EQ(again.best[i].improvements, result.best[i].improvements);
}

TEST(Search, ImprovementsOfTheSameTaskExcludeEachOther) {
  const Trace trace = waiting_program(3);
  const Estimator estimator = *Estimator::create(trace);
  std::vector<Improvement> improvements = one_each(3);
  improvements[2].tasks = {TaskId(1), TaskId(2)};
  const SearchResult result = search(estimator, improvements);
  EXPECT_THAT(result.exclusive, ElementsAre(std::pair{1u, 2u}));
  for (const Combination& combination : result.best) EXPECT_LT(combination.improvements.size(), 3u);
  EXPECT_THAT(result.best[0].improvements, ElementsAre(0, 2));
}

TEST(Search, SaysWhyAnImprovementCannotBeApplied) {
  const Trace trace = waiting_program(2);
  const Estimator estimator = *Estimator::create(trace);
  std::vector<Improvement> improvements = one_each(2);
  improvements[1].optimisation = Optimisation::convert_to_combinator;
  const SearchResult result = search(estimator, improvements);
  EXPECT_TRUE(result.singles[0].estimate.has_value());
  EXPECT_FALSE(result.singles[1].estimate.has_value());
  EXPECT_THAT(result.singles[1].reason, HasSubstr("waits for no other task"));
}

TEST(Search, StopsAtTheLimit) {
  const Trace trace = waiting_program(20);
  const Estimator estimator = *Estimator::create(trace);
  const SearchResult result = search(estimator, one_each(20), {.estimates_max = 30});
  EXPECT_TRUE(result.cut_short);
  EXPECT_EQ(result.estimated, 30u);
}

TEST(Search, FiltersWhatMakesTheRunLonger) {
  // Two tasks that ran in parallel: inlining one makes the run longer, though it uses fewer threads.
  const Trace trace = *model::parse_text(R"(thread main
thread w1
thread w2
pool p thread_pool 2
0 main task_spawn t1 - p
1 main task_spawn t2 - p
2 w1 task_start t1
2 main wait_begin t1
3 w2 task_start t2
1002 w1 task_end t1
1003 w2 task_end t2
1004 main wait_end t1
1005 main wait_begin t2
1006 main wait_end t2
1010 main thread_end
)");
  const Estimator estimator = *Estimator::create(trace);
  const SearchResult result = search(estimator, one_each(2));
  EXPECT_TRUE(result.singles[0].filtered);
  EXPECT_FALSE(passes_filters(result.singles[0].estimate->figures, estimator.base()));
}

TEST(Score, IsTheWeightedMeanOfRatios) {
  Figures base, half;
  base.duration_ns = 100;
  base.peak_occupied = 4;
  base.mean_occupied = 2;
  half = base;
  half.peak_occupied = 2;
  EXPECT_DOUBLE_EQ(score_of(base, base, {}), 1);
  EXPECT_DOUBLE_EQ(score_of(half, base, {1, 1, 0}), 0.75);
}

}  // namespace
}  // namespace contrafact::whatif
