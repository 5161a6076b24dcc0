#include "deferred/environment.h"

#include <gtest/gtest.h>

#include <thread>

namespace contrafact::deferred {
namespace {

struct Sum {
  void add(uint64_t n) { sum += n; }
  std::atomic<uint64_t> sum{0};
};
using SumEnvironment = Environment<&Sum::add>;

TEST(Environment, Smoke) {
  for (bool use_pool : {false, true}) {
    Sum sum;
    {
      auto environment = std::move(*SumEnvironment::create(
          sum, use_pool ? std::move(*pool({.consumers = 2, .queue = 3})) : synchronous(), {.capacity = 10}));
      std::thread thread([&] {
        for (int i = 0; i < 1000; ++i) environment->defer<&Sum::add>(1);
      });
      for (int i = 0; i < 1005; ++i) environment->defer<&Sum::add>(1);
      thread.join();
    }
    EXPECT_EQ(sum.sum, 2005u);
  }
}

}  // namespace
}  // namespace contrafact::deferred
