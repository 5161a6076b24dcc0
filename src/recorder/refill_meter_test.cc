#include "recorder/refill_meter.h"

#include <gtest/gtest.h>

#include <cstdio>
#include <vector>

namespace contrafact::recorder {
namespace {

// A reading takes 30 us; right after a sleep a tenth of that sleep more, and in one of four steps another program has the core for 2 ms.
TEST(RefillMeter, SaysTheMedianOfWhatReadingTakesLongerAfterEachSleep) {
  int64_t now_ns = 0, slept_ns = 0;
  int looks = 0, steps = 0;
  RefillMeter meter(
      [&] {
        if (++looks % 2 == 0) {  // the end of a reading
          now_ns += 30'000 + slept_ns / 10 + (slept_ns > 0 && steps % 4 == 3 ? 2'000'000 : 0);
          slept_ns = 0;
        }
        return now_ns;
      },
      [&](int64_t ns) { now_ns += ns, slept_ns = ns; });
  for (; !meter.done(); ++steps) meter.step();
  EXPECT_EQ(steps, 27);
  EXPECT_EQ(meter.text(), "500000:50000 3000000:300000 10000000:1000000");
}

TEST(RefillMeter, WhatDoesNotTakeLongerIsNothing) {
  int64_t now_ns = 0;
  int looks = 0;
  RefillMeter meter([&] { return now_ns += ++looks % 2 == 0 ? 30'000 - looks : 0; }, [](int64_t) {});
  while (!meter.done()) meter.step();
  EXPECT_EQ(meter.text(), "500000:0 3000000:0 10000000:0");
}

// On a core of this machine.
TEST(RefillMeter, MeasuresBySleeping) {
  RefillMeter meter;
  while (!meter.done()) meter.step();
  long long idle_ns[3] = {}, longer_ns[3] = {};
  const std::string text = meter.text();
  ASSERT_EQ(std::sscanf(text.c_str(), "%lld:%lld %lld:%lld %lld:%lld", &idle_ns[0], &longer_ns[0], &idle_ns[1],
                        &longer_ns[1], &idle_ns[2], &longer_ns[2]),
            6)
      << text;
}

}  // namespace
}  // namespace contrafact::recorder
