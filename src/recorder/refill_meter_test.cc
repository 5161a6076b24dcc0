#include "recorder/refill_meter.h"

#include <gtest/gtest.h>

#include <cstdio>

namespace contrafact::recorder {
namespace {

TEST(RefillMeter, SaysForEachSleepWhatReadingThenTakesLonger) {
  RefillMeter meter;
  int steps = 0;
  for (; !meter.done(); ++steps) meter.step();
  EXPECT_EQ(steps, 27);
  long long idle_ns[3] = {}, longer_ns[3] = {};
  char end = 0;
  const std::string text = meter.text();
  ASSERT_EQ(std::sscanf(text.c_str(), "%lld:%lld %lld:%lld %lld:%lld%c", &idle_ns[0], &longer_ns[0], &idle_ns[1],
                        &longer_ns[1], &idle_ns[2], &longer_ns[2], &end),
            6)
      << text;
  for (size_t i = 0; i < 3; ++i) {
    EXPECT_EQ(idle_ns[i], RefillMeter::kIdleNs[i]);
    EXPECT_GE(longer_ns[i], 0);
  }
}

}  // namespace
}  // namespace contrafact::recorder
