#include "model/event_parts.h"

#include <gtest/gtest.h>

#include <string>

namespace contrafact::model {
namespace {

// Owners of the first so many events, as digits.
std::string owners(const OwnedParts& parts, uint32_t events) {
  std::string found;
  for (uint32_t event = 0; event < events; ++event) {
    const uint32_t owner = parts.owner_of(event);
    found += owner == OwnedParts::kNobody ? std::string("-") : std::to_string(owner);
  }
  return found;
}

TEST(OwnedParts, OfPartsWithinPartsTheInnermostCounts) {
  OwnedParts parts;
  parts.add(6, 8, 3);
  parts.add(1, 12, 1);
  parts.add(3, 10, 2);
  parts.finish();
  EXPECT_EQ(owners(parts, 14), "-11222332211--");
}

// Of a task that ran others before, one behind the other.
TEST(OwnedParts, BehindAnyNumberOfInnerPartsTheOuterGoesOn) {
  OwnedParts parts;
  parts.add(0, 1000, 7);
  for (uint32_t i = 0; i < 100; ++i) parts.add(2 + 2 * i, 3 + 2 * i, 1);
  parts.finish();
  EXPECT_EQ(parts.owner_of(2), 1u);
  EXPECT_EQ(parts.owner_of(3), 7u);
  EXPECT_EQ(parts.owner_of(999), 7u);
  EXPECT_EQ(parts.owner_of(1000), OwnedParts::kNobody);
}

TEST(OwnedParts, OfTwoThatBeginTogetherTheShorterIsWithinTheOther) {
  OwnedParts parts;
  parts.add(2, 4, 1);
  parts.add(2, 6, 2);
  parts.add(5, 5, 3);  // no event
  parts.finish();
  EXPECT_EQ(owners(parts, 7), "--1122-");
}

TEST(OwnedParts, OfTwoThatOverlapTheLaterBegunCounts) {
  OwnedParts parts;
  parts.add(1, 5, 1);
  parts.add(3, 8, 2);
  parts.add(8, 9, 3);
  parts.finish();
  EXPECT_EQ(owners(parts, 10), "-11222223-");
}

TEST(EventParts, IncludeTheirLastEvents) {
  EventParts parts;
  parts.add(2, 3);
  parts.add(3, 5);
  parts.finish();
  EXPECT_FALSE(parts.contain(1));
  EXPECT_TRUE(parts.contain(2) && parts.contain(5));
  EXPECT_FALSE(parts.contain(6));
}

}  // namespace
}  // namespace contrafact::model
