#include "advise/endpoint_loads.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <string>

#include "advise/service_for_test.h"
#include "whatif/load_uses.h"

namespace contrafact::advise {
namespace {

constexpr int64_t kMs = 1'000'000;

// Two handlers; of four requests three ask for a page, 2 ms on a core, and one for an order: 1 ms, and then 18 ms for which it has the only
// connection. One client asks 10 ms after each answer.
std::string shop_text(int requests) {
  std::string text =
      "fact cores 2\nmethod m1 sun.Exchange.run\npool handlers thread_pool 2 2\npool db permits 1 1\nthread main\n"
      "thread w1\nconnection a accepted 80 5001\nendpoint e1 \"GET /page\"\nendpoint e2 \"POST /order\"\n";
  std::string worker;
  int64_t at = 0;
  for (int i = 0; i < requests; ++i) {
    const bool orders = i % 4 == 3;
    text += fmt::format("{} main task_spawn t{} - handlers m1\n", at, i + 1);
    worker += fmt::format("{0} w1 task_start t{1}\n{0} w1 receive a 10\n{0} w1 endpoint {2} pattern\n", at, i + 1,
                          orders ? "e2" : "e1");
    at += orders ? kMs : 2 * kMs;
    if (orders) {
      worker += fmt::format("{} w1 permit_take db 1\n{} w1 block_begin sleep -\n", at, at);
      at += 18 * kMs;
      worker += fmt::format("{} w1 block_end sleep\n{} w1 permit_give db 1\n", at, at);
    }
    worker += fmt::format("{0} w1 send a 10\n{0} w1 task_end t{1}\n", at, i + 1);
    at += 10 * kMs;
  }
  return text + worker;
}

struct Shop : ServiceForTest {
  explicit Shop(std::vector<bool> shown = {}) : ServiceForTest(shop_text(80)) {
    simulate({.endpoints = drawn_endpoints(simulator->templates(), requests), .shown = std::move(shown)});
  }
};

TEST(EndpointLoads, OfALimitThatIsEstimatedNoSharesAreKnown) {
  const Shop shop;
  const base::Result<LoadPoint> recorded = shop.service->at_load({}, 1);
  base::Result<Saturation> saturation = shop.service->saturation({}, true);
  ASSERT_TRUE(recorded.ok() && saturation.ok());
  for (const ServiceLimit::Kind kind : {ServiceLimit::Kind::permits, ServiceLimit::Kind::lock}) {
    saturation->limit.kind = kind, saturation->limit.is_estimated = true;
    for (const EndpointLoad& load : endpoint_loads(shop.simulator->templates(), shop.requests, *recorded, *saturation))
      EXPECT_FALSE(load.of_limit.has_value());
  }
}

TEST(EndpointLoads, EachHasItsShareItsTimesAndWhatItUses) {
  const Shop shop;
  const base::Result<LoadPoint> recorded = shop.service->at_load({}, 1);
  const base::Result<Saturation> saturation = shop.service->saturation({}, true);
  ASSERT_TRUE(recorded.ok() && saturation.ok());
  EXPECT_EQ(saturation->limit.kind, ServiceLimit::Kind::permits);
  const std::vector<EndpointLoad> loads =
      endpoint_loads(shop.simulator->templates(), shop.requests, *recorded, *saturation);
  ASSERT_EQ(loads.size(), 2u);
  const EndpointLoad &page = loads[0], &order = loads[1];
  EXPECT_EQ(shop.requests.endpoints[page.endpoint], "GET /page");
  EXPECT_EQ(shop.requests.endpoints[order.endpoint], "POST /order");
  EXPECT_EQ(page.requests, 60u);
  EXPECT_DOUBLE_EQ(page.share, 0.75);
  EXPECT_EQ(page.measured.p50_ns, 2 * kMs);
  EXPECT_EQ(order.measured.p99_ns, 19 * kMs);
  EXPECT_NEAR(static_cast<double>(page.recorded.p50_ns), 2e6, 1e5);
  EXPECT_NEAR(static_cast<double>(order.recorded.p50_ns), 19e6, 1e5);
  EXPECT_GT(order.saturated.p99_ns, order.recorded.p99_ns);
  EXPECT_NEAR(static_cast<double>(page.core_ns), 2e6, 1e5);
  EXPECT_NEAR(static_cast<double>(order.core_ns), 1e6, 1e5);
  EXPECT_NEAR(static_cast<double>(order.pause_ns), 18e6, 1e5);
  EXPECT_NEAR(static_cast<double>(order.wait_ns), 0, 1e5);
  ASSERT_TRUE(page.of_limit && order.of_limit);
  EXPECT_DOUBLE_EQ(*page.of_limit, 0);
  EXPECT_DOUBLE_EQ(*order.of_limit, 1);
}

TEST(EndpointLoads, WorkersAreHeldForWholeTasks) {
  const Shop shop;
  std::vector<int64_t> by_endpoint(2);
  const std::vector<int64_t> held_ns = whatif::pool_uses_ns(shop.simulator->templates(), 0);
  const std::vector<uint32_t> endpoints = drawn_endpoints(shop.simulator->templates(), shop.requests);
  for (size_t i = 0; i < held_ns.size(); ++i) by_endpoint[endpoints[i]] += held_ns[i];
  EXPECT_EQ(by_endpoint[0], 60 * 2 * kMs);
  EXPECT_EQ(by_endpoint[1], 20 * 19 * kMs);
}

TEST(EndpointLoads, TimesOfSomeWhileAllAreSimulated) {
  const Shop shop({false, true});
  const base::Result<LoadPoint> all = Shop().service->at_load({}, 1), orders = shop.service->at_load({}, 1);
  ASSERT_TRUE(all.ok() && orders.ok());
  EXPECT_NEAR(static_cast<double>(all->p50_ns), 2e6, 1e5);
  EXPECT_NEAR(static_cast<double>(orders->p50_ns), 19e6, 1e5);
  EXPECT_DOUBLE_EQ(all->per_second, orders->per_second);
  EXPECT_NEAR(shop.service->error().value_or(1), 0, 0.02);
}

}  // namespace
}  // namespace contrafact::advise
