#include "model/awake_turns.h"

#include <gtest/gtest.h>

#include <string>

#include "model/text_trace.h"

namespace contrafact::model {
namespace {

AwakeTurns turns_by(const std::string& fact, const std::string& until = "") {
  base::Result<Trace> trace =
      parse_text("fact cores.awake_ns \"" + fact + "\"\n" +
                 (until.empty() ? "" : "fact cores.awake_until_ns \"" + until + "\"\n") + "thread w\n");
  EXPECT_TRUE(trace.ok());
  return trace.ok() ? AwakeTurns(*trace) : AwakeTurns();
}

constexpr int64_t kMs = 1'000'000;

TEST(AwakeTurns, AreThoseWithOddNumbers) {
  const AwakeTurns turns = turns_by("10000000");
  EXPECT_EQ(turns.of(0, 9 * kMs), Turn::left_alone);
  EXPECT_EQ(turns.of(12 * kMs, 19 * kMs), Turn::awake);
  EXPECT_EQ(turns.of(20 * kMs, 29 * kMs), Turn::left_alone);
}

TEST(AwakeTurns, BeginWithCachesThatMayBeCold) {
  const AwakeTurns turns = turns_by("10000000");
  EXPECT_EQ(turns.of(11 * kMs, 19 * kMs), Turn::both);
  EXPECT_EQ(turns.of(21 * kMs, 22 * kMs), Turn::left_alone);
}

TEST(AwakeTurns, ATimeInTwoOfThemIsInNeither) {
  const AwakeTurns turns = turns_by("10000000");
  EXPECT_EQ(turns.of(9 * kMs, 10 * kMs), Turn::both);
  EXPECT_EQ(turns.of(13 * kMs, 33 * kMs), Turn::both);
}

TEST(AwakeTurns, OfATimeAPartIsAwake) {
  const AwakeTurns turns = turns_by("10000000");
  EXPECT_EQ(turns.awake_ns(0, 10 * kMs), 0);
  EXPECT_EQ(turns.awake_ns(5 * kMs, 13 * kMs), 3 * kMs);
  EXPECT_EQ(turns.awake_ns(12 * kMs, 34 * kMs), 12 * kMs);
  EXPECT_EQ(turns.awake_ns(-5 * kMs, 11 * kMs), kMs);
}

TEST(AwakeTurns, EndWhereCoresWereNoLongerKeptAwake) {
  const AwakeTurns turns = turns_by("10000000", "35000000");
  EXPECT_EQ(turns.of(12 * kMs, 19 * kMs), Turn::awake);
  EXPECT_EQ(turns.of(32 * kMs, 34 * kMs), Turn::awake);
  EXPECT_EQ(turns.of(32 * kMs, 36 * kMs), Turn::both);
  EXPECT_EQ(turns.of(52 * kMs, 54 * kMs), Turn::both);
  EXPECT_EQ(turns.of(62 * kMs, 64 * kMs), Turn::both) << "as other requests may come then than before";
  EXPECT_EQ(turns.awake_ns(0, 100 * kMs), 15 * kMs);
  EXPECT_EQ(turns.awake_ns(36 * kMs, 100 * kMs), 0);
  EXPECT_EQ(turns.until_ns(), 35 * kMs);
}

TEST(AwakeTurns, EndAtNoKnownTimeIfThatIsDamaged) {
  const AwakeTurns turns = turns_by("10000000", "35x");
  EXPECT_EQ(turns.of(12 * kMs, 19 * kMs), Turn::both);
  EXPECT_EQ(turns.awake_ns(0, 100 * kMs), 0);
}

TEST(AwakeTurns, AreNotThereIfTheFactIsDamaged) {
  for (const char* fact : {"", "5", "-10000000", "10000000x", "99999999999999999999"}) {
    const AwakeTurns turns = turns_by(fact);
    EXPECT_FALSE(turns.any()) << fact;
    EXPECT_EQ(turns.of(1, 2), Turn::both) << fact;
    EXPECT_EQ(turns.awake_ns(0, 1'000 * kMs), 0) << fact;
  }
}

}  // namespace
}  // namespace contrafact::model
