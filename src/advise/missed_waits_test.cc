#include "advise/missed_waits.h"

#include <gtest/gtest.h>

namespace contrafact::advise {
namespace {

constexpr WaitingRun kRecorded{.duration_ns = 1'000'000, .waits_ns = 2'000'000};

TEST(MissedWaits, AreWhatTheSimulatedRunIsTooShortBy) {
  EXPECT_EQ(missed_ns(kRecorded, {800'000, 1'500'000}), 200'000);
  EXPECT_EQ(missed_ns(kRecorded, {1'100'000, 2'300'000}), -100'000);
}

TEST(MissedWaits, AreNoMoreThanTheWaitingThatWasNotSimulated) {
  EXPECT_EQ(missed_ns(kRecorded, {800'000, 1'950'000}), 50'000);
  EXPECT_EQ(missed_ns(kRecorded, {1'100'000, 2'020'000}), -20'000);
}

TEST(MissedWaits, AreNoneWhereWaitingDoesNotExplainTheDifference) {
  EXPECT_EQ(missed_ns(kRecorded, {800'000, 2'100'000}), 0);
  EXPECT_EQ(missed_ns(kRecorded, {800'000, 0}), 0);
  EXPECT_EQ(missed_ns(kRecorded, {999'000, 1'900'000}), 0);
}

TEST(MissedWaits, GoWithTheWaiting) {
  const WaitingRun unchanged{800'000, 1'500'000};
  EXPECT_DOUBLE_EQ(gain_with_missed(unchanged, 200'000, {400'000, 0}), 0.6);
  EXPECT_DOUBLE_EQ(gain_with_missed(unchanged, 200'000, {400'000, 750'000}), 0.5);
  EXPECT_DOUBLE_EQ(gain_with_missed(unchanged, 200'000, {800'000, 3'000'000}), 0);
  EXPECT_DOUBLE_EQ(gain_with_missed(unchanged, 0, {400'000, 0}), 0.5);
}

// Half of the time, in a tenth of the waits; and the other way round.
TEST(MissedWaits, GoWithTheTimeOrWithTheWaits) {
  const WaitingRun unchanged{800'000, 1'500'000, 100};
  EXPECT_DOUBLE_EQ(gain_with_missed(unchanged, 200'000, {400'000, 750'000, 10}), 0.58);
  EXPECT_DOUBLE_EQ(gain_with_missed(unchanged, 200'000, {400'000, 150'000, 50}), 0.58);
}

// If missed waiting explains the whole error, half of it stays in doubt. An error with another cause stays in doubt as
// it is.
TEST(MissedWaits, LeaveADoubt) {
  EXPECT_DOUBLE_EQ(doubt_with_missed(-0.1, 0.1), 0.05);
  EXPECT_DOUBLE_EQ(doubt_with_missed(0.1, -0.1), 0.05);
  EXPECT_DOUBLE_EQ(doubt_with_missed(-0.1, 0), 0.1);
  EXPECT_DOUBLE_EQ(doubt_with_missed(-0.1, 0.02), 0.09);
}

}  // namespace
}  // namespace contrafact::advise
