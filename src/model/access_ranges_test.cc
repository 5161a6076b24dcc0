#include "model/access_ranges.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>

namespace contrafact::model {
namespace {

using ::testing::ElementsAreArray;

std::vector<AccessRange> listed(const AccessRanges& all, AccessRanges::List list) {
  std::vector<AccessRange> ranges;
  for (const AccessRange& range : all.of(list)) ranges.push_back(range);
  return ranges;
}

std::vector<AccessRange> walk(uint64_t begin, size_t count) {
  std::vector<AccessRange> ranges;
  for (size_t i = 0; i < count; ++i) ranges.push_back({(begin + i) * 48, 16, format::kAccessRead});
  return ranges;
}

TEST(AccessRanges, HoldWhatWasAdded) {
  AccessRanges all;
  std::mt19937 random(1);
  std::vector<std::pair<AccessRanges::List, std::vector<AccessRange>>> added;
  for (int i = 0; i < 300; ++i) {
    std::vector<AccessRange> ranges = walk(random() % 2000, random() % 400);
    for (AccessRange& range : ranges) {
      if (random() % 20 == 0) range.flags |= format::kAccessWrite;
    }
    if (i % 3 == 0) ranges.push_back({1 << 20, static_cast<uint32_t>(1 + random() % 5000), format::kAccessRead});
    const AccessRanges::List list = all.add(ranges);
    added.emplace_back(list, std::move(ranges));
  }
  for (const auto& [list, ranges] : added) {
    EXPECT_THAT(listed(all, list), ElementsAreArray(ranges));
    EXPECT_EQ(all.add(ranges), list);
  }
}

TEST(AccessRanges, NothingIsAListOfItsOwn) {
  AccessRanges all;
  all.add(walk(0, 10));
  EXPECT_EQ(all.add({}), AccessRanges::List());
  EXPECT_TRUE(all.of({}).empty());
  EXPECT_EQ(all.chunks_of({}).size(), 0u);
}

// Each begins elsewhere, and has something of its own in front, as a thread's stack.
TEST(AccessRanges, WhatListsHaveInCommonIsHeldOnce) {
  AccessRanges all;
  for (uint64_t i = 0; i < 2000; ++i) {
    std::vector<AccessRange> ranges = walk(i % 1000, 500);
    ranges.insert(ranges.begin(), {i % 7, 8, format::kAccessWrite});
    all.add(ranges);
  }
  EXPECT_EQ(all.added(), 2000u * 501);
  EXPECT_LT(all.held(), all.added() / 20);
}

}  // namespace
}  // namespace contrafact::model
