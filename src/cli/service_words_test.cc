#include "cli/service_words.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "model/text_trace.h"

namespace contrafact::cli {
namespace {

using advise::LoadPoint;
using testing::HasSubstr;

constexpr int64_t kMs = 1'000'000;

TEST(ServiceWords, TimesHaveIntervalsThatHaveAWidth) {
  LoadPoint point;
  point.p50_ns = 10 * kMs, point.p90_ns = 12 * kMs, point.p99_ns = 20 * kMs;
  point.p50_range = {9 * kMs, 11 * kMs};
  point.p99_range = {20 * kMs, 20 * kMs};
  EXPECT_EQ(times_text(point), "10 ms (9 ms to 11 ms) in the median, p90 12 ms, p99 20 ms");
}

TEST(ServiceWords, ALoadThatIsNotKeptUpWithIsSaidToBe) {
  LoadPoint point;
  point.open = true, point.keeps_up = false, point.offered = 500, point.per_second = 200;
  EXPECT_THAT(fate_text(point, "they"),
              HasSubstr("it falls behind: 500 requests come in a second and 200 are answered"));
  point.stuck = true;
  EXPECT_EQ(fate_text(point, "they"), "it stands still (simulated)");
}

TEST(ServiceWords, LoadsWithoutASteadyStateAreWarnedOf) {
  LoadPoint steady, unsteady, behind;
  unsteady.steady = false;
  behind.steady = behind.keeps_up = false;
  EXPECT_EQ(steady_warning({&steady, &behind}), "");
  EXPECT_EQ(steady_warning({&steady, &behind, &unsteady}),
            "warning: 1 of 3 simulated loads reached no steady state; `contrafact load --requests` simulates longer\n");
}

TEST(ServiceWords, AnErrorThatIsNotKnownIsSaidToBe) {
  EXPECT_THAT(error_warning(std::nullopt), HasSubstr("is not known"));
  EXPECT_EQ(error_warning(0.01), "");
  EXPECT_THAT(error_warning(-0.2), HasSubstr("20 % less time"));
}

TEST(ServiceWords, WhatTwiceAsManyWouldGiveIsSaidWhereTheLimitIsEstimated) {
  advise::Saturation saturation;
  saturation.point.per_second = 350;
  saturation.limit = {
      .kind = advise::ServiceLimit::Kind::permits, .name = "Pool.take", .is_estimated = true, .more = 6};
  EXPECT_EQ(twice_text(saturation),
            "With about twice as many of what is waited for at Pool.take it can answer up to 700/s (estimated)");
  saturation.limit.more = 0.5;  // then something else limits it
  EXPECT_THAT(twice_text(saturation), HasSubstr("up to 525/s"));
  saturation.limit.is_estimated = false;
  EXPECT_EQ(twice_text(saturation), "");
}

TEST(ServiceWords, ALockWhoseSetsAreKnownNeedsNoOtherRecording) {
  const base::Result<model::Trace> trace = model::parse_text(
      "fact agent native\nthread w\nlock l mutex\nmethod m1 shop.Cache.get Cache.java:9\ncontext c1 - m1:10\n"
      "0 w lock_acquire l c1\n100 w lock_release l\n");
  ASSERT_TRUE(trace.ok());
  const model::Facts facts(*trace);
  const advise::ServiceLimit limit{.kind = advise::ServiceLimit::Kind::lock, .id = 0};
  EXPECT_THAT(limit_hint(facts, limit), HasSubstr("record --sets"));
  EXPECT_THAT(limit_hint(facts, limit, true), HasSubstr("is held longest from Cache.get"));
  EXPECT_THAT(limit_hint(facts, limit, true), testing::Not(HasSubstr("--sets")));
}

TEST(ServiceWords, FromHowManyClientsOnItStandsStill) {
  advise::Saturation saturation;
  EXPECT_EQ(hang_text(saturation, "the program"), "");
  saturation.hangs = LoadPoint{.clients = 3, .stuck = true, .stuck_reason = "no worker is free"};
  EXPECT_EQ(hang_text(saturation, "the program"), "the program stands still from 3 clients on: no worker is free");
}

TEST(ServiceWords, PermitsWhoseHoldersWaitForFurtherOnesAreSaidToDoSo) {
  const model::Trace trace;
  advise::ServiceLimit limit{
      .kind = advise::ServiceLimit::Kind::permits, .size = 10, .name = "db", .besides = {}, .more = 0.5};
  EXPECT_EQ(limit_text(trace, limit), "limited by the 10 permits of db (with twice as many +50 %)");
  limit.starves = true;
  EXPECT_EQ(limit_text(trace, limit),
            "limited by the 10 permits of db, whose holders come to wait for further ones (with twice as many +50 %)");
}

}  // namespace
}  // namespace contrafact::cli
