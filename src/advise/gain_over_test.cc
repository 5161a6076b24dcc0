#include "advise/gain_over.h"

#include <gtest/gtest.h>

namespace contrafact::advise {
namespace {

using Gains = std::vector<std::optional<Gain>>;

TEST(GainOver, IsTheMedianWithTheSpreadAndWhatEachLeavesOpen) {
  const Gains each{Gain{.share = 0.3, .low = 0.29, .high = 0.32}, std::nullopt,
                   Gain{.share = 0.2, .low = 0.18, .high = 0.21}, Gain{.share = 0.25, .low = 0.22, .high = 0.26}};
  const Gain gain = gain_over(each);
  EXPECT_DOUBLE_EQ(gain.share, 0.25);
  EXPECT_NEAR(gain.low, 0.2 - 0.02, 1e-12);
  EXPECT_NEAR(gain.high, 0.3 + 0.01, 1e-12);
  EXPECT_DOUBLE_EQ(gain_over(std::span(each).first(1)).low, 0.29) << "one recording keeps its own interval";
}

TEST(GainOver, AGainHereAndALossThereContradict) {
  const auto of = [](double share) { return Gain{.share = share, .low = share - 0.3, .high = share + 0.3}; };
  EXPECT_TRUE(contradict(Gains{of(0.1), of(0), of(-0.05)}));
  EXPECT_FALSE(contradict(Gains{of(0.1), of(-0.01), std::nullopt})) << "repeated runs differ by more than 1 %";
  EXPECT_FALSE(contradict(Gains{of(-0.1), of(-0.05)}));
}

}  // namespace
}  // namespace contrafact::advise
