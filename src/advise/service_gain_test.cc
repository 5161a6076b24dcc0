#include "advise/service_gain.h"

#include <gtest/gtest.h>

namespace contrafact::advise {
namespace {

TEST(ServiceGain, NoiseOfBothSimulationsIsInIt) {
  const Gain gain = gain_between({.value = 200, .spread = 0.03}, {.value = 210, .spread = 0.04}, {});
  EXPECT_NEAR(gain.share, 0.05, 1e-9);
  EXPECT_NEAR(gain.low, 0.05 - 1.05 * 0.05, 1e-9);  // a triangle of 3, 4 and 5
  EXPECT_NEAR(gain.high, 0.05 + 1.05 * 0.05, 1e-9);
  EXPECT_FALSE(is_sure(gain));
  EXPECT_TRUE(is_sure(gain_between({.value = 200, .spread = 0.003}, {.value = 210, .spread = 0.004}, {})));
}

TEST(ServiceGain, AnErrorThatBothHaveIsAPartOfWhatChanges) {
  const KnownErrors errors{.recorded = 0.1};
  const Gain same = gain_between({.value = 200}, {.value = 200}, errors);
  EXPECT_DOUBLE_EQ(same.low, 0);
  EXPECT_DOUBLE_EQ(same.high, 0);
  const Gain four_times = gain_between({.value = 200}, {.value = 800}, errors);
  EXPECT_NEAR(four_times.low, 2.7, 1e-9);
  EXPECT_NEAR(four_times.high, 3.3, 1e-9);
}

TEST(ServiceGain, WhatIdleCoresCostCountsWhereOneProgramUsesMoreOfThem) {
  const KnownErrors errors{.idle_cores = 0.1};
  const Gain alike = gain_between({.value = 200, .cores_used = 1}, {.value = 220, .cores_used = 1}, errors);
  EXPECT_NEAR(alike.high - alike.low, 0, 1e-9);
  const Gain more = gain_between({.value = 200, .cores_used = 0.2}, {.value = 400, .cores_used = 1}, errors);
  EXPECT_NEAR(more.low, 1 - 2 * 0.1 * 0.8, 1e-9);
  EXPECT_NEAR(more.high, 1 + 2 * 0.1 * 0.8, 1e-9);
}

TEST(ServiceGain, CompiledCodeHelpsTheProgramMoreThatUsesMoreOfTheCores) {
  const KnownErrors errors{.compiles = true};
  const Gain more = gain_between({.value = 200, .cores_used = 0.5}, {.value = 400, .cores_used = 1}, errors);
  EXPECT_DOUBLE_EQ(more.low, 1);
  EXPECT_NEAR(more.high, 2 * 2 / 1.5 - 1, 1e-9);
  const Gain less = gain_between({.value = 200, .cores_used = 1}, {.value = 400, .cores_used = 0.5}, errors);
  EXPECT_NEAR(less.low, 2 * 1.5 / 2 - 1, 1e-9);
  EXPECT_DOUBLE_EQ(less.high, 1);
}

}  // namespace
}  // namespace contrafact::advise
