#include "advise/service.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <string>

#include "advise/service_for_test.h"
#include "advise/service_worth.h"

namespace contrafact::advise {
namespace {

struct Recorded : ServiceForTest {
  explicit Recorded(const std::string& text) : ServiceForTest(text) { simulate(); }
};

TEST(Service, ItsPoolIsWhatLimitsIt) {
  const Recorded recorded(sleeping_service(40));
  const base::Result<Saturation> found = recorded.service->saturation({}, true);
  ASSERT_TRUE(found.ok());
  EXPECT_NEAR(found->point.per_second, 200, 4);
  EXPECT_EQ(found->limit.kind, ServiceLimit::Kind::pool);
  EXPECT_EQ(found->limit.size, 2u);
  EXPECT_NEAR(found->limit.more, 1, 0.1);
  EXPECT_FALSE(found->hangs.has_value());
}

TEST(Service, WithMoreWorkersItsCoresAre) {
  const Recorded recorded(sleeping_service(40));
  const whatif::Variant variant{.pool_sizes = {{model::PoolId(0), 64}}};
  const base::Result<Saturation> found = recorded.service->saturation(variant, true);
  ASSERT_TRUE(found.ok());
  EXPECT_NEAR(found->point.per_second, 1000, 30);
  EXPECT_EQ(found->limit.kind, ServiceLimit::Kind::cores);
}

TEST(Service, TheRecordedLoadIsSimulatedAsItWas) {
  const Recorded recorded(sleeping_service(40));
  EXPECT_NEAR(recorded.service->error().value_or(1), 0, 0.01);
  const base::Result<LoadPoint> point = recorded.service->at_load({}, 1);
  ASSERT_TRUE(point.ok());
  EXPECT_NEAR(point->per_second, 50, 1);
  EXPECT_NEAR(static_cast<double>(point->p50_ns), 10e6, 1e5);
}

TEST(Service, ChangesAreJudgedByNoMoreClientsThanAreSimulated) {
  Saturation recorded;
  EXPECT_EQ(clients_to_judge_by(recorded), 4u);
  recorded.point.clients = 100;
  EXPECT_EQ(clients_to_judge_by(recorded), 400u);
  recorded.hangs = LoadPoint{.clients = 300};
  EXPECT_EQ(clients_to_judge_by(recorded), 600u);
  recorded.point.clients = kClientsMost;
  EXPECT_EQ(clients_to_judge_by(recorded), kClientsMost);
  recorded.hangs->clients = kClientsMost;
  EXPECT_EQ(clients_to_judge_by(recorded), kClientsMost);
}

TEST(Service, AnOpenLoadBeyondItsSaturationIsNotKeptUpWith) {
  const Recorded recorded(sleeping_service(40));
  const base::Result<LoadPoint> less = recorded.service->at_rate({}, 100), more = recorded.service->at_rate({}, 400);
  ASSERT_TRUE(less.ok() && more.ok());
  EXPECT_TRUE(less->keeps_up);
  EXPECT_FALSE(more->keeps_up);
  EXPECT_GT(more->p99_ns, 5 * less->p99_ns);
}

TEST(Service, TheLeastLoadIsFoundUnderWhichHandlersWaitForEachOther) {
  const Recorded recorded(self_waiting_service(3));
  const base::Result<Saturation> found = recorded.service->saturation({}, false);
  ASSERT_TRUE(found.ok());
  ASSERT_TRUE(found->hangs.has_value());
  const uint32_t clients = found->hangs->clients;
  EXPECT_GE(clients, 3u);
  EXPECT_LE(clients, 4u);
  const base::Result<LoadPoint> fewer = recorded.service->at_clients({}, clients - 1, false);
  ASSERT_TRUE(fewer.ok());
  EXPECT_FALSE(fewer->stuck);
}

TEST(Service, APoolWhoseWorkersWaitForEachOtherLimitsIt) {
  const Recorded recorded(self_waiting_service(3));
  const base::Result<Saturation> found = recorded.service->saturation({}, true);
  ASSERT_TRUE(found.ok());
  EXPECT_EQ(found->limit.kind, ServiceLimit::Kind::pool);
  EXPECT_EQ(found->limit.size, 3u);
  EXPECT_TRUE(found->limit.starves);
  EXPECT_GT(found->limit.more, 0.2);
}

TEST(Service, PermitsWhoseHoldersWaitForFurtherOnesLimitIt) {
  const Recorded recorded(twice_taking_service(8, 3, 4));
  const base::Result<Saturation> found = recorded.service->saturation({}, true);
  ASSERT_TRUE(found.ok());
  ASSERT_TRUE(found->hangs.has_value());
  EXPECT_GE(found->hangs->clients, 3u);
  EXPECT_LE(found->hangs->clients, 4u);
  EXPECT_EQ(found->hangs->stuck_reason, "waits for a permit of db: whoever has some of the 3 waits, too");
  EXPECT_EQ(found->limit.kind, ServiceLimit::Kind::permits);
  EXPECT_EQ(found->limit.size, 3u);
  EXPECT_TRUE(found->limit.starves);
  EXPECT_GT(found->limit.more, 0.2);
}

TEST(Service, ItSaysOfWhichProcessThePoolIsThatStarves) {
  const Recorded recorded("fact process.0 \"3 1 0 17 shop\"\n" + self_waiting_service(3));
  const base::Result<Saturation> found = recorded.service->saturation({}, false);
  ASSERT_TRUE(found.ok() && found->hangs.has_value());
  EXPECT_THAT(found->hangs->stuck_reason, testing::HasSubstr("no worker of pool handlers of shop is free"));
}

// 4 ms on the thread that hands requests on, 6 ms on one of eight cores.
TEST(Service, TheThreadThatHandsRequestsOnIsWhatLimitsIt) {
  const Recorded recorded(dispatching_service(60));
  const base::Result<Saturation> found = recorded.service->saturation({}, true);
  ASSERT_TRUE(found.ok());
  EXPECT_NEAR(found->point.per_second, 250, 5);
  EXPECT_EQ(found->limit.kind, ServiceLimit::Kind::thread);
  EXPECT_EQ(found->limit.name, "the thread that hands requests to pools");
  EXPECT_NEAR(found->limit.more, 1, 0.1);
}

TEST(Service, CoresThatAVariantAddsAreWhatLimitsIt) {
  const Recorded recorded(sleeping_service(40));
  const whatif::Variant variant{.pool_sizes = {{model::PoolId(0), 64}}, .cores = 4};
  const base::Result<Saturation> found = recorded.service->saturation(variant, true);
  ASSERT_TRUE(found.ok());
  EXPECT_NEAR(found->point.per_second, 2000, 60);
  EXPECT_EQ(found->limit.kind, ServiceLimit::Kind::cores);
  EXPECT_EQ(found->limit.size, 4u);
  EXPECT_EQ(found->limit.name, "the 4 cores");
}

TEST(Service, MoreClientsThanTheMemoryHoldsAreNotReported) {
  const Recorded recorded(long_service(4));
  const uint32_t most = recorded.service->clients_most();
  ASSERT_LT(most, 512u);
  const base::Result<LoadPoint> some = recorded.service->at_clients({}, 4, false);
  const base::Result<LoadPoint> many = recorded.service->at_clients({}, 4096, false);
  ASSERT_TRUE(some.ok() && many.ok());
  EXPECT_TRUE(some->steady);
  EXPECT_LT(many->clients, 4096u);
  EXPECT_FALSE(many->steady);
  EXPECT_DOUBLE_EQ(*recorded.service->capacity({}, 4096), *recorded.service->capacity({}, most));
}

// Four cores are used up by four requests, long before twelve handlers wait for each other.
TEST(Service, ItHangsWithMoreClientsThanSaturateIt) {
  const Recorded recorded(self_waiting_service(12));
  const base::Result<Saturation> found = recorded.service->saturation({}, true);
  const base::Result<std::optional<LoadPoint>> hangs = recorded.service->hangs_from({}, kClientsMost);
  ASSERT_TRUE(found.ok() && hangs.ok());
  EXPECT_EQ(found->limit.kind, ServiceLimit::Kind::cores);
  ASSERT_TRUE(hangs->has_value());
  EXPECT_GE((*hangs)->clients, 12u);
}

TEST(Service, TheLoadIsFoundFromWhichOnItHangs) {
  const Recorded recorded(self_waiting_service(3));
  const base::Result<LoadPoint> least = recorded.service->least_hanging_load({}, 40);
  ASSERT_TRUE(least.ok());
  EXPECT_TRUE(least->stuck);
  EXPECT_TRUE(least->thinks);
  const base::Result<LoadPoint> fewer = recorded.service->at_clients({}, least->clients - 1, true);
  ASSERT_TRUE(fewer.ok());
  EXPECT_FALSE(fewer->stuck);
}

TEST(Service, TimesHaveIntervals) {
  const Recorded recorded(sleeping_service(40));
  const base::Result<LoadPoint> steady = recorded.service->at_rate({}, 150);
  ASSERT_TRUE(steady.ok());
  for (const TimeRange& range : {steady->p50_range, steady->p90_range, steady->p99_range})
    EXPECT_LE(range.low_ns, range.high_ns);
  EXPECT_LE(steady->p99_range.low_ns, steady->p99_ns);
  EXPECT_GE(steady->p99_range.high_ns, steady->p99_ns);
  // Each section of a queue that only grows has other times.
  const base::Result<LoadPoint> growing = recorded.service->at_rate({}, 400);
  ASSERT_TRUE(growing.ok());
  EXPECT_GT(growing->p50_range.high_ns - growing->p50_range.low_ns, growing->p50_ns / 4);
  EXPECT_TRUE(steady->steady);
  EXPECT_FALSE(growing->steady);
}

TEST(Service, ARecordingThatCannotBeSimulatedIsAnError) {
  ServiceForTest recorded(sleeping_service(40));
  model::Requests none = recorded.requests;
  none.all.clear();
  const base::Result<whatif::LoadSimulator> simulator = whatif::LoadSimulator::make(*recorded.facts, none);
  ASSERT_TRUE(simulator.ok());
  EXPECT_FALSE(Service::make(*simulator, recorded.arrivals, {}).ok());
}

TEST(Service, AnEstimatedLockAllowsLessThanWasSimulated) {
  Saturation found;
  found.point.per_second = 200, found.point.low = 190, found.point.high = 210;
  limit_by({.lock = model::LockId(3),
            .site = {},
            .holder_at = {},
            .waits = 100,
            .held = 0.5,
            .per_second = 100,
            .low_per_second = 50},
           found);
  EXPECT_EQ(found.limit.kind, ServiceLimit::Kind::lock);
  EXPECT_EQ(found.limit.id, 3u);
  EXPECT_TRUE(found.limit.is_estimated);
  EXPECT_DOUBLE_EQ(found.limit.more, 1);
  EXPECT_DOUBLE_EQ(found.point.per_second, 100);
  EXPECT_DOUBLE_EQ(found.point.low, 40);  // a hundred waits are known to a fifth
  EXPECT_DOUBLE_EQ(found.point.high, 120);
}

TEST(Service, WhatRequestsWaitForAndNobodyKnowsAllowsLessThanWasSimulated) {
  Saturation found;
  found.point.per_second = 6000, found.point.low = 5000, found.point.high = 7000;
  limit_by({.waits = 100, .per_second = 640, .low_per_second = 360}, "Pool.take (Pool.java:12)", found);
  EXPECT_EQ(found.limit.kind, ServiceLimit::Kind::permits);
  EXPECT_EQ(found.limit.name, "Pool.take (Pool.java:12)");
  EXPECT_TRUE(found.limit.is_estimated);
  EXPECT_DOUBLE_EQ(found.point.per_second, 480);
  EXPECT_DOUBLE_EQ(found.limit.more, 11.5);
  EXPECT_DOUBLE_EQ(found.point.low, 288);  // a hundred waits are known to a fifth
  EXPECT_DOUBLE_EQ(found.point.high, 768);
}

TEST(Service, IntervalsAreThoseOfStudentsDistribution) {
  EXPECT_DOUBLE_EQ(half_width({5}), 0);
  EXPECT_DOUBLE_EQ(half_width({5, 5, 5}), 0);
  std::vector<double> batches;
  for (int i = 0; i < 20; ++i) batches.push_back(i % 2);
  // 1.729 of the standard error, which is half a unit times the root of 20/19, through the root of 20.
  EXPECT_NEAR(half_width(batches), 1.729 * 0.5 / std::sqrt(19.0), 1e-3);
  EXPECT_NEAR(half_width({1, 1, 1, 1, 1}, 0), 2.132 * std::sqrt(5.0 / 4) / std::sqrt(5.0), 2e-3);
}

TEST(Service, TheBeginningIsCutOffWhereTheRestIsSteady) {
  std::vector<double> values(200, 10);
  for (size_t i = 0; i < 30; ++i) values[i] = 100 - 3 * static_cast<double>(i);
  EXPECT_NEAR(static_cast<double>(mser_cut(values).begin), 30, 5);
  EXPECT_TRUE(mser_cut(values).steady);
  EXPECT_TRUE(mser_cut(std::vector<double>(400, 2.9e8 / 3)).steady);
  EXPECT_EQ(mser_cut(std::vector<double>(200, 10)).begin, 0u);
}

TEST(Service, TimesThatOnlyGrowAreNoSteadyState) {
  std::vector<double> values;
  for (int i = 0; i < 400; ++i) values.push_back(i);
  EXPECT_FALSE(mser_cut(values).steady);
}

}  // namespace
}  // namespace contrafact::advise
