#include "whatif/search.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "model/text_trace.h"
#include "model/trace_builder.h"
#include "whatif/batch.h"
#include "whatif/optimisations_for_test.h"
#include "whatif/screen.h"

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
  std::vector<Improvement> improvements(count, {.optimisation = &kInline});
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

TEST(Search, CompanionsJoinTheBestOfTheOthers) {
  const Trace trace = waiting_program(14);
  const Estimator estimator = *Estimator::create(trace);
  const SearchOptions options{.exhaustive_max = 4, .first_companion = 12};
  const SearchResult result = search(estimator, one_each(14), options);
  ASSERT_FALSE(result.best.empty());
  EXPECT_EQ(result.best[0].improvements.size(), 14u);
  EXPECT_EQ(result.best[0].figures.peak_occupied, 1u);
}

TEST(Search, CompanionsMayHelpInPairs) {
  const Trace trace = waiting_program(2);
  const Estimator estimator = *Estimator::create(trace);
  // The peak alone counts, and goes only with both.
  const SearchOptions options{.weights = {.duration = 0, .mean = 0}, .exhaustive_max = 0, .first_companion = 0};
  const SearchResult result = search(estimator, one_each(2), options);
  ASSERT_FALSE(result.best.empty());
  EXPECT_THAT(result.best[0].improvements, ElementsAre(0, 1));
}

TEST(Search, LeavesOutWhatAddsNothing) {
  const Trace trace = waiting_program(60);
  const Estimator estimator = *Estimator::create(trace);
  std::vector<Improvement> improvements(2, {.optimisation = &kInline});
  improvements[0].tasks = {TaskId(0)};  // 50 ns of a run of some 100,000
  improvements[1].tasks = {TaskId(59)};
  const SearchResult result = search(estimator, improvements);
  ASSERT_GE(result.best.size(), 2u);
  EXPECT_THAT(result.best[0].improvements, ElementsAre(1));
  EXPECT_THAT(result.best[1].improvements, ElementsAre(0, 1));
  EXPECT_LT(result.best[1].score, result.best[0].score);
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
  improvements[1].optimisation = &kCombinator;
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

TEST(Search, StopsWhenItsBudgetIsSpentAtTheSamePlaceOnAnyNumberOfThreads) {
  const Trace trace = waiting_program(40);
  const Estimator estimator = *Estimator::create(trace);
  SearchOptions options{.visits_max = 3000, .threads = 1};
  const SearchResult result = search(estimator, one_each(40), options);
  EXPECT_TRUE(result.cut_short);
  EXPECT_GE(result.visits, 3000u);
  EXPECT_GT(result.estimated, 40u);
  ASSERT_FALSE(result.best.empty());
  options.threads = 4;
  const SearchResult again = search(estimator, one_each(40), options);
  EXPECT_EQ(again.estimated, result.estimated);
  EXPECT_EQ(again.visits, result.visits);
  EXPECT_EQ(again.best[0].improvements, result.best[0].improvements);
  options.visits_max *= 100;
  EXPECT_GT(search(estimator, one_each(40), options).estimated, result.estimated);
}

TEST(Search, WhatWouldTakeTooLongExhaustivelyIsClimbed) {
  const Trace trace = waiting_program(10);
  const Estimator estimator = *Estimator::create(trace);
  const SearchResult all = search(estimator, one_each(10));
  EXPECT_TRUE(all.exhaustive);
  const SearchResult some = search(estimator, one_each(10), {.visits_max = all.visits / 4});
  EXPECT_FALSE(some.exhaustive);
  EXPECT_LT(some.estimated, all.estimated);
  EXPECT_EQ(some.best[0].improvements, all.best[0].improvements);
}

TEST(Batch, HasTheFiguresOfEachCombinationAlone) {
  const Trace trace = waiting_program(6);
  const Estimator estimator = *Estimator::create(trace);
  const std::vector<Improvement> improvements = one_each(6);
  const Batch batch(estimator, improvements);
  Batch::Scratch scratch(batch);
  const std::vector<std::vector<uint32_t>> sets{{}, {0}, {1, 2}, {0, 1, 2, 3, 4, 5}};
  std::vector<const std::vector<uint32_t>*> lanes;
  for (const std::vector<uint32_t>& set : sets) lanes.push_back(&set);
  const std::vector<base::Result<Figures>> figures = batch.figures(lanes, scratch);
  EXPECT_EQ(scratch.alone, 0u);
  for (size_t i = 0; i < sets.size(); ++i) {
    const base::Result<Figures> one = batch.figures_of_one(sets[i], scratch);
    ASSERT_TRUE(one.ok() && figures[i].ok());
    EXPECT_EQ(figures[i]->duration_ns, one->duration_ns);
    EXPECT_EQ(figures[i]->mean_response_ns, one->mean_response_ns);
    EXPECT_EQ(figures[i]->mean_active, one->mean_active);
    EXPECT_EQ(figures[i]->mean_waiting, one->mean_waiting);
    EXPECT_EQ(figures[i]->peak_occupied, one->peak_occupied);
  }
}

// A search among improvements that were estimated by themselves does not estimate those again, and finds the same.
TEST(Search, DoesNotEstimateAgainWhatIsKnown) {
  const Trace trace = waiting_program(8);
  const Estimator estimator = *Estimator::create(trace);
  const std::vector<Improvement> all = one_each(8);
  const Batch batch(estimator, all);
  const Screened screened = screen(batch);
  const std::vector<uint32_t> rows{6, 2, 4};
  std::vector<Improvement> improvements;
  KnownFigures known;
  for (const uint32_t row : rows) {
    improvements.push_back(all[row]);
    known.singles.push_back(*screened.figures[row]);
  }
  const SearchResult anew = search(estimator, improvements);
  const SearchResult result = search(batch.part(rows), improvements, known);
  EXPECT_EQ(result.estimated, anew.estimated);
  ASSERT_EQ(result.best.size(), anew.best.size());
  for (size_t i = 0; i < result.best.size(); ++i) {
    EXPECT_EQ(result.best[i].improvements, anew.best[i].improvements);
    EXPECT_EQ(result.best[i].figures.duration_ns, anew.best[i].figures.duration_ns);
  }
  const SearchResult only_known = search(batch.part(rows), improvements, known, {.visits_max = 0});
  EXPECT_EQ(only_known.visits, 0u);
  ASSERT_EQ(only_known.singles.size(), rows.size());
  for (const Single& single : only_known.singles) EXPECT_TRUE(single.estimate);
}

// Lanes take longer to make than a few passes, and so few improvements are estimated without.
TEST(Batch, ForASmallBudgetHasNoLanes) {
  const Trace trace = waiting_program(14);
  const Estimator estimator = *Estimator::create(trace);
  const std::vector<Improvement> few = one_each(8), many = one_each(14);
  EXPECT_TRUE(Batch(estimator, few).has_lanes());
  EXPECT_TRUE(Batch(estimator, many, 1).has_lanes());
  const Batch batch(estimator, few, 1);
  EXPECT_FALSE(batch.has_lanes());
  for (const base::Result<Figures>& figures : screen(batch, {.visits_max = 1}).figures) EXPECT_TRUE(figures.ok());
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

// A task of 0.3 % of the run, beside which main sleeps as long: inlined, the run needs one thread instead of two.
TEST(Search, NamesWhatASlightlySlowerRunWouldGain) {
  const Trace trace = *model::parse_text(R"(thread main
thread w1
pool p thread_pool 1
0 main thread_begin
1000 main task_spawn t1 - p
1000 w1 task_start t1
1010 main block_begin sleep -
1300 main block_end sleep
1300 w1 task_end t1
1300 main wait_begin t1
1300 main wait_end t1
100000 main thread_end
)");
  const Estimator estimator = *Estimator::create(trace);
  const SearchResult strict = search(estimator, one_each(1));
  EXPECT_TRUE(strict.best.empty());
  ASSERT_TRUE(strict.slower.has_value());
  EXPECT_EQ(strict.slower->figures.duration_ns, 100'290);  // less the 10 that handing it out cost
  EXPECT_EQ(strict.slower->figures.peak_occupied, 1u);
  const SearchResult lax = search(estimator, one_each(1), {.slower_max = kSlightlySlower});
  ASSERT_EQ(lax.best.size(), 1u);
  EXPECT_FALSE(lax.slower.has_value());
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
