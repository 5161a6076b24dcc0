#include "advise/verdict.h"

#include <gtest/gtest.h>

#include "advise/pricer.h"
#include "advise/section_advice.h"

namespace contrafact::advise {
namespace {

using whatif::BaselineCheck;

Effect effect_of(double gain, double low, double high, std::optional<double> floor = {}) {
  return {.simulated = SimulatedEffect{.gain = gain, .drawn_low = low, .drawn_high = high},
          .sections = whatif::SectionGains{.recorded_order = 0.5, .floor = floor}};
}

TEST(Verdict, AGainIsHeldAgainstItsErrors) {
  const auto verdict = [](double gain, double low, double high, double error, bool trusted = true) {
    return name_of(verdict_of(effect_of(gain, low, high), BaselineCheck{.error = error, .trusted = trusted}));
  };
  EXPECT_EQ(verdict(0.2, 0.19, 0.21, 0.01), "a gain");
  EXPECT_EQ(verdict(0.03, 0.03, 0.03, -0.04), "within its error");
  EXPECT_EQ(verdict(0.03, 0.0, 0.05, 0.0), "within its error");  // some draws gain nothing
  EXPECT_EQ(verdict(-0.2, -0.21, -0.19, 0.01), "a loss");
  EXPECT_EQ(verdict(0.0001, 0, 0, 0.04), "no gain");
  EXPECT_EQ(verdict(0.2, 0.19, 0.21, 0.3, false), "baseline off");
  EXPECT_EQ(verdict(0.5, 0.45, 0.55, 0.3, false), "a gain");  // more than all that was missed
  EXPECT_EQ(verdict_of(Effect{}, BaselineCheck{.trusted = true}), Verdict::not_simulated);
}

// Of an error that missed waiting explains, half is left open; of another one, all.
TEST(Verdict, AnExplainedErrorLeavesHalfOfItOpen) {
  const auto low = [](double error, double missed) {
    Effect effect = effect_of(0.4, 0.4, 0.4);
    effect.simulated->missed = missed;
    return gain_of(BaselineCheck{.error = error}, *effect.simulated).low;
  };
  EXPECT_DOUBLE_EQ(low(-0.3, 0.3), 0.4 - 0.15);
  EXPECT_DOUBLE_EQ(low(0.2, -0.2), 0.4 - 0.1);
  EXPECT_DOUBLE_EQ(low(-0.3, 0.1), 0.4 - 0.25);
  EXPECT_DOUBLE_EQ(low(-0.3, 0), 0.4 - 0.3);
  EXPECT_DOUBLE_EQ(low(-0.02, -0.1), 0.4 - 0.02);  // it is no cause
}

// Beside every verdict stands its interval: the one follows from the other.
TEST(Verdict, FollowsFromTheIntervalThatIsShown) {
  const BaselineCheck baseline{.error = -0.02, .trusted = true};
  for (const double gain : {-0.1, -0.03, 0.03, 0.1}) {
    for (const double low : {gain - 0.08, gain - 0.02, gain}) {
      for (const double high : {gain, gain + 0.02, gain + 0.08}) {
        const Effect effect = effect_of(gain, low, high);
        const Gain shown = gain_of(baseline, *effect.simulated);
        const bool open = shown.low <= 0 && shown.high >= 0;
        EXPECT_EQ(verdict_of(effect, baseline), open       ? Verdict::within_error
                                                : gain > 0 ? Verdict::gain
                                                           : Verdict::loss)
            << gain << " between " << shown.low << " and " << shown.high;
      }
    }
  }
}

TEST(Verdict, AnEstimateIsHeldAgainstItsInterval) {
  EXPECT_EQ(verdict_of(Gain{.share = 0.1, .low = 0.08, .high = 0.12}), Verdict::gain);
  EXPECT_EQ(verdict_of(Gain{.share = 0.1, .low = -0.01, .high = 0.12}), Verdict::within_error);
  EXPECT_EQ(verdict_of(Gain{.share = -0.1, .low = -0.12, .high = -0.08}), Verdict::loss);
  EXPECT_EQ(verdict_of(Gain{}), Verdict::no_gain);
}

TEST(Verdict, OfARunThatTheSimulationMissesOnlyAGainBeyondThatIsOne) {
  EXPECT_EQ(verdict_of(Gain{.share = 0.6, .low = 0.53, .high = 0.67}, false), Verdict::gain);
  EXPECT_EQ(verdict_of(Gain{.share = 0.2, .low = -0.01, .high = 0.41}, false), Verdict::baseline_off);
  EXPECT_EQ(verdict_of(Gain{.share = 0.02, .low = 0.005, .high = 0.03}, false), Verdict::baseline_off);
  EXPECT_EQ(verdict_of(Gain{.share = -0.2, .low = -0.3, .high = -0.1}, false), Verdict::baseline_off);
}

TEST(Verdict, ALossThatMayBeAGainIsNeither) {
  const BaselineCheck good{.error = 0.02, .trusted = true};
  Effect effect;
  effect.simulated = SimulatedEffect{.gain = -0.2, .drawn_low = -0.2, .drawn_high = -0.2};
  EXPECT_EQ(verdict_of(effect, good), Verdict::loss);
  effect.simulated->doubt = 0.25;
  EXPECT_EQ(verdict_of(effect, good), Verdict::within_error);
  effect.simulated->doubt = 0.1;
  effect.simulated->more = 0.15;
  EXPECT_EQ(verdict_of(effect, good), Verdict::within_error);
  effect.simulated = SimulatedEffect{.gain = 0.2, .drawn_low = 0.2, .drawn_high = 0.2, .doubt = 0.1, .more = 0.15};
  EXPECT_EQ(verdict_of(effect, good), Verdict::gain);
}

TEST(Verdict, WhatMovesBetweenCoresMakesAGainLessSure) {
  const BaselineCheck good{.error = 0.02, .trusted = true};
  Effect effect;
  effect.simulated = SimulatedEffect{.gain = 0.2, .drawn_low = 0.2, .drawn_high = 0.2, .between_cores = 0.19};
  EXPECT_EQ(verdict_of(effect, good), Verdict::within_error);
  EXPECT_DOUBLE_EQ(gain_of(good, *effect.simulated).high, 0.22);
  effect.simulated->between_cores = 0.1;
  EXPECT_EQ(verdict_of(effect, good), Verdict::gain);
}

TEST(Verdict, OnlyAGainThatCanBeBelievedHelps) {
  const BaselineCheck good{.error = 0.02, .trusted = true}, off{.error = 0.2, .trusted = false};
  const auto advice = [](Effect effect, const BaselineCheck& baseline) {
    Advice one;
    one.effect = std::move(effect);
    one.verdict = verdict_of(one.effect, baseline);
    return one;
  };
  const auto helps_with = [&](const Effect& effect, const BaselineCheck& baseline) {
    return helps(advice(effect, baseline), baseline);
  };
  EXPECT_TRUE(helps_with(effect_of(0.3, 0.3, 0.3), good));
  EXPECT_TRUE(helps_with(effect_of(0.3, 0.3, 0.3, 0.02), good))
      << "the recorded order of other locks allowed less: it is no limit";
  EXPECT_TRUE(helps_with(effect_of(0.3, 0.3, 0.3), off)) << "more than all that the simulation missed";
  EXPECT_FALSE(helps_with(effect_of(0.2, 0.2, 0.2), off));
  EXPECT_FALSE(helps_with(effect_of(0.01, 0.01, 0.01), good)) << "within its error";
  const Effect not_simulated{.sections = whatif::SectionGains{.recorded_order = 0.1}};
  EXPECT_TRUE(helps_with(not_simulated, good));
  EXPECT_FALSE(helps_with(not_simulated, off));
  Effect hangs = effect_of(0.3, 0.3, 0.3);
  hangs.simulated->stuck = true;
  EXPECT_FALSE(helps_with(hangs, good)) << "whatever the recorded order promises";
}

}  // namespace
}  // namespace contrafact::advise
