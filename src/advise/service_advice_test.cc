#include "advise/service_advice.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "advise/pricer.h"
#include "advise/service_for_test.h"
#include "improve/kinds/kinds.h"
#include "improve/task_candidates.h"

namespace contrafact::advise {
namespace {

struct AdvisedService : ServiceForTest {
  explicit AdvisedService(const std::string& text, ServiceAdviceOptions options = {}) : ServiceForTest(text) {
    simulate();
    pricer.emplace(*facts, nullptr, PricerOptions{});
    const improve::Candidates tasks = improve::task_candidates(*facts);
    base::Result<ServiceAdvice> made =
        advise_service(*service, *pricer, {.each = tasks.candidates, .together = {}}, options);
    EXPECT_TRUE(made.ok()) << (made.ok() ? "" : made.error().message);
    if (made.ok()) advice = *std::move(made);
  }
  std::optional<Pricer> pricer;
  ServiceAdvice advice;
};

bool is_size(const ServiceChange& change) {
  return change.candidate.improvement.optimisation == improve::kinds::pool_size;
}

TEST(ServiceAdvice, ThatAProgramRunsIsWorthMoreThanWhatItAnswers) {
  const Worth recorded{500, Worth::Runs::as_recorded}, later{400, Worth::Runs::with_more}, never{300};
  EXPECT_TRUE(later.exceeds(recorded, 0.5));
  EXPECT_TRUE(never.exceeds(later, 0.5));
  EXPECT_FALSE(recorded.exceeds(never, 0));
  EXPECT_TRUE((Worth{104}).exceeds({100}, kTellableRate));
  EXPECT_FALSE((Worth{102}).exceeds({100}, kTellableRate));
}

TEST(ServiceAdvice, ThePoolThatLimitsGetsASizeThatIsEnough) {
  const AdvisedService advised(sleeping_service(40));
  ASSERT_EQ(advised.advice.best.size(), 1u);
  const ServiceChange& change = advised.advice.best[0];
  EXPECT_TRUE(is_size(change));
  EXPECT_GE(change.candidate.improvement.size_after, 10u);
  EXPECT_GT(advised.advice.after.point.per_second, 900);
  EXPECT_FALSE(change.is_needed);
  EXPECT_FALSE(change.hangs_with.has_value());
  ASSERT_TRUE(change.adds.has_value());
  EXPECT_GT(change.adds->share, 3);
  EXPECT_LE(change.adds->low, change.adds->share);
  EXPECT_GE(change.adds->high, change.adds->share);
  EXPECT_THAT(advised.advice.hang_removed_by(), testing::IsEmpty());
}

TEST(ServiceAdvice, TheProgramIsMeasuredWithAsManyClientsAsItsChanges) {
  const AdvisedService advised(sleeping_service(40));
  const uint32_t clients = 4 * advised.advice.before.point.clients;
  EXPECT_DOUBLE_EQ(advised.advice.per_second, *advised.service->capacity({}, clients));
  const ServiceChange& change = advised.advice.best[0];
  const whatif::Variant variant{.pool_sizes = {{model::PoolId(0), change.candidate.improvement.size_after}}};
  EXPECT_DOUBLE_EQ(change.per_second, *advised.service->capacity(variant, clients));
}

// Twelve handlers get in each other's way: with sixteen clients the program answers less than with four.
TEST(ServiceAdvice, ADeclineWithMoreClientsIsNoGainOfWhatOnlyAvoidsIt) {
  const AdvisedService advised(self_waiting_service(12));
  const ServiceAdvice& advice = advised.advice;
  const uint32_t clients = advice.before.point.clients;
  EXPECT_LT(*advised.service->capacity({}, 4 * clients), 0.9 * *advised.service->capacity({}, clients));
  EXPECT_GE(advice.per_second, *advised.service->capacity({}, clients));
  EXPECT_THAT(advice.best, testing::IsEmpty());
  ASSERT_EQ(advice.others.size(), 1u);
  EXPECT_TRUE(advice.others[0].is_of_machine());
}

// However many handlers there are, each of them may come to wait for a task that none is free to run.
TEST(ServiceAdvice, WhatRemovesAStandstillIsAdvised) {
  for (const int handlers : {3, 6, 12}) {
    // Twelve do with more clients than saturate the cores.
    const AdvisedService advised(self_waiting_service(handlers), {.load = 60});
    const ServiceAdvice& advice = advised.advice;
    ASSERT_TRUE(advice.before.hangs.has_value()) << handlers;
    EXPECT_GE(advice.before.hangs->clients, static_cast<uint32_t>(handlers));
    EXPECT_GT(advice.per_second, 0) << handlers;
    ASSERT_FALSE(advice.best.empty()) << handlers;
    EXPECT_FALSE(advice.after.hangs.has_value()) << handlers;
    const std::vector<size_t> rows = advice.hang_removed_by();
    ASSERT_FALSE(rows.empty()) << handlers;
    EXPECT_EQ(rows[0], 1u) << handlers;
    EXPECT_TRUE(advice.best[0].is_needed) << handlers;
    EXPECT_FALSE(is_size(advice.best[0])) << handlers;
  }
}

TEST(ServiceAdvice, ALargerPoolOnlyPutsAStandstillOff) {
  AdvisedService advised(self_waiting_service(3));
  base::Result<ServiceAdvice> made = advise_service(*advised.service, *advised.pricer, {}, {});
  ASSERT_TRUE(made.ok());
  ASSERT_EQ(made->best.size(), 1u);
  const ServiceChange& size = made->best[0];
  EXPECT_TRUE(is_size(size));
  ASSERT_TRUE(size.hangs_with.has_value());
  EXPECT_GE(*size.hangs_with, size.candidate.improvement.size_after);
  EXPECT_THAT(made->hang_removed_by(), testing::IsEmpty());
}

// With nine connections, each of eight handlers can have one while another one of them has two. Four cores are not used up before the
// program hangs, one core is.
TEST(ServiceAdvice, MorePermitsRemoveAStandstillOfTheirHolders) {
  for (const int cores : {4, 1}) {
    const AdvisedService advised(twice_taking_service(8, 3, cores), {.load = 60});
    const ServiceAdvice& advice = advised.advice;
    ASSERT_TRUE(advice.before.hangs.has_value()) << cores;
    ASSERT_EQ(advice.best.size(), 1u) << cores;
    const ServiceChange& size = advice.best[0];
    EXPECT_TRUE(is_size(size)) << cores;
    EXPECT_EQ(size.candidate.pool, model::PoolId(1)) << cores;
    EXPECT_GE(size.candidate.improvement.size_after, 9u) << cores;
    EXPECT_TRUE(size.is_needed) << cores;
    EXPECT_THAT(advice.hang_removed_by(), testing::Contains(1u)) << cores;
    EXPECT_FALSE(advice.after.hangs.has_value()) << cores;
  }
}

TEST(ServiceAdvice, UnderALoadUnderWhichItHangsTheLoadIsSaidAtWhichThatBegins) {
  const AdvisedService advised(self_waiting_service(3), {.objective = ServiceObjective::p99, .load = 40});
  const ServiceAdvice& advice = advised.advice;
  EXPECT_TRUE(advice.load_before.stuck);
  ASSERT_TRUE(advice.load_hangs.has_value());
  EXPECT_LT(advice.load_hangs->clients, 40u);
  EXPECT_FALSE(advice.load_hangs->stuck_reason.empty());
  ASSERT_FALSE(advice.best.empty());
  EXPECT_FALSE(advice.load_after.stuck);
}

TEST(ServiceAdvice, WhereCoresLimitMoreOfThemAreARowThatJoinsNothing) {
  const AdvisedService advised(sleeping_service(40));
  const ServiceAdvice& advice = advised.advice;
  EXPECT_EQ(advice.after.limit.kind, ServiceLimit::Kind::cores);
  ASSERT_FALSE(advice.others.empty());
  const ServiceChange& cores = advice.others.back();
  EXPECT_TRUE(cores.is_of_machine());
  EXPECT_EQ(cores.candidate.improvement.size_after, 4u);
  ASSERT_TRUE(cores.adds.has_value());
  EXPECT_GT(cores.adds->low, 0.03);
  EXPECT_NE(cores.curve, "");
  EXPECT_TRUE(std::ranges::none_of(advice.best, &ServiceChange::is_of_machine));
}

}  // namespace
}  // namespace contrafact::advise
