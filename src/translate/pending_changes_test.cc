#include "translate/pending_changes.h"

#include <gtest/gtest.h>

namespace contrafact::translate {
namespace {

TEST(PendingChanges, HoldWhatWasAddedUntilItIsRemoved) {
  PendingChanges changes;
  EXPECT_TRUE(changes.is_empty());
  changes.add(10, 20);
  changes.add(15, 30);
  changes.add(10, 20);  // another thread's
  EXPECT_FALSE(changes.holds(9));
  EXPECT_TRUE(changes.holds(10));
  EXPECT_FALSE(changes.holds(30));
  changes.remove(10, 20);
  EXPECT_TRUE(changes.holds(12));
  changes.remove(10, 20);
  EXPECT_FALSE(changes.holds(12));
  EXPECT_TRUE(changes.holds(15));
  changes.remove(15, 30);
  EXPECT_TRUE(changes.is_empty());
}

TEST(PendingChanges, SayWhereTheNextBegins) {
  PendingChanges changes;
  changes.add(50, 60);
  changes.add(30, 40);
  EXPECT_EQ(changes.next_behind(10, 100), 30u);
  EXPECT_EQ(changes.next_behind(30, 100), 50u);
  EXPECT_EQ(changes.next_behind(50, 100), 100u);
  EXPECT_EQ(changes.next_behind(10, 20), 20u);
}

TEST(PendingChanges, AreEverywhereWhereTheyDoNotFit) {
  PendingChanges changes;
  constexpr uint64_t kMany = 100;
  for (uint64_t i = 0; i < kMany; ++i) changes.add(10 * i, 10 * i + 1);
  EXPECT_TRUE(changes.holds(5));
  EXPECT_TRUE(changes.holds(UINT64_MAX));
  uint64_t everywhere = 0;
  changes.each([&](uint64_t begin, uint64_t end) { everywhere += begin == 0 && end == UINT64_MAX ? 1 : 0; });
  EXPECT_EQ(everywhere, 1u);
  for (uint64_t i = kMany; i > 0; --i) changes.remove(10 * (i - 1), 10 * (i - 1) + 1);
  EXPECT_TRUE(changes.is_empty());
}

}  // namespace
}  // namespace contrafact::translate
