#include "advise/service.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "advise/service_for_test.h"

namespace contrafact::advise {
namespace {

// Two handlers; each request computes 2 ms and sleeps for 8 ms. One client, which asks 10 ms after each answer.
std::string service_text(int requests) {
  std::string text =
      "fact cores 2\nmethod m1 shop.Page.run Page.java:1\npool handlers thread_pool 2 2\nthread main\nthread w1\n"
      "connection a accepted 80 5001\n";
  std::string worker;
  for (int i = 0; i < requests; ++i) {
    const int64_t at = 20'000'000LL * i;
    text += fmt::format("{} main task_spawn t{} - handlers m1\n", at, i + 1);
    worker += fmt::format(
        "{0} w1 task_start t{1}\n{0} w1 receive a 10\n{2} w1 block_begin sleep -\n{3} w1 block_end sleep\n{3} w1 send "
        "a 10\n"
        "{3} w1 task_end t{1}\n",
        at, i + 1, at + 2'000'000, at + 10'000'000);
  }
  return text + worker;
}

struct Recorded : RecordedService {
  explicit Recorded(const std::string& text) : RecordedService(text) { simulate(); }
};

TEST(Service, ItsPoolIsWhatLimitsIt) {
  const Recorded recorded(service_text(40));
  const base::Result<Saturation> found = recorded.service->saturation({}, true);
  ASSERT_TRUE(found.ok());
  EXPECT_NEAR(found->point.per_second, 200, 4);
  EXPECT_EQ(found->limit.kind, ServiceLimit::Kind::pool);
  EXPECT_EQ(found->limit.size, 2u);
  EXPECT_NEAR(found->limit.more, 1, 0.1);
  EXPECT_FALSE(found->hangs.has_value());
}

TEST(Service, WithMoreWorkersItsCoresAre) {
  const Recorded recorded(service_text(40));
  const whatif::Variant variant{.pool_sizes = {{model::PoolId(0), 64}}};
  const base::Result<Saturation> found = recorded.service->saturation(variant, true);
  ASSERT_TRUE(found.ok());
  EXPECT_NEAR(found->point.per_second, 1000, 30);
  EXPECT_EQ(found->limit.kind, ServiceLimit::Kind::cores);
}

TEST(Service, TheRecordedLoadIsSimulatedAsItWas) {
  const Recorded recorded(service_text(40));
  EXPECT_NEAR(recorded.service->error(), 0, 0.01);
  const base::Result<LoadPoint> point = recorded.service->at_load({}, 1);
  ASSERT_TRUE(point.ok());
  EXPECT_NEAR(point->per_second, 50, 1);
  EXPECT_NEAR(static_cast<double>(point->p50_ns), 10e6, 1e5);
}

TEST(Service, AnOpenLoadBeyondItsSaturationIsNotKeptUpWith) {
  const Recorded recorded(service_text(40));
  const base::Result<LoadPoint> less = recorded.service->at_rate({}, 100), more = recorded.service->at_rate({}, 400);
  ASSERT_TRUE(less.ok() && more.ok());
  EXPECT_TRUE(less->keeps_up);
  EXPECT_FALSE(more->keeps_up);
  EXPECT_GT(more->p99_ns, 5 * less->p99_ns);
}

// A handler waits for a task of its own pool of three: three requests at a time wait for each other for ever.
TEST(Service, TheLeastLoadIsFoundUnderWhichHandlersWaitForEachOther) {
  std::string text =
      "fact cores 4\nmethod m1 shop.Page.run Page.java:1\npool handlers thread_pool 3 3\nthread main\nthread "
      "w1\nthread w2\n"
      "context c1 - m1:7\nconnection a accepted 80 5001\n";
  std::string one, other;
  for (int i = 0; i < 40; ++i) {
    const int64_t at = 20'000'000LL * i;
    text += fmt::format("{} main task_spawn t{} - handlers m1\n", at, 2 * i + 1);
    one += fmt::format(
        "{0} w1 task_start t{1}\n{0} w1 receive a 10\n{2} w1 task_spawn t{3} c1 handlers m1\n{2} w1 wait_begin t{3} "
        "c1\n"
        "{4} w1 wait_end t{3}\n{4} w1 send a 10\n{4} w1 task_end t{1}\n",
        at, 2 * i + 1, at + 2'000'000, 2 * i + 2, at + 6'000'000);
    other += fmt::format("{0} w2 task_start t{1}\n{2} w2 task_complete t{1}\n{2} w2 task_end t{1}\n", at + 2'000'000,
                         2 * i + 2, at + 6'000'000);
  }
  const Recorded recorded(text + one + other);
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

TEST(Service, TheBeginningIsCutOffWhereTheRestIsSteady) {
  std::vector<double> values(200, 10);
  for (size_t i = 0; i < 30; ++i) values[i] = 100 - 3 * static_cast<double>(i);
  EXPECT_NEAR(static_cast<double>(warm_up_end(values)), 30, 5);
  EXPECT_EQ(warm_up_end(std::vector<double>(200, 10)), 0u);
}

}  // namespace
}  // namespace contrafact::advise
