#include "format/access_set.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <random>

#include "format/testing.h"

namespace contrafact::format {
namespace {

using testing::ElementsAre;

constexpr uint32_t kRead = kAccessRead, kWrite = kAccessWrite, kChanged = kAccessChanged, kMore = kAccessCommutative;

std::vector<AccessRange> canonical(std::vector<AccessRange> ranges) {
  make_canonical(ranges);
  return ranges;
}

TEST(AccessSet, NeighboursWithEqualFlagsAreJoinedOthersKeptApart) {
  EXPECT_THAT(canonical({{8, 8, kRead}, {0, 8, kRead}, {16, 4, kWrite}}),
              ElementsAre(AccessRange{0, 16, kRead}, AccessRange{16, 4, kWrite}));
}

TEST(AccessSet, WhatOverlapsIsSplitAndItsFlagsAreJoined) {
  EXPECT_THAT(canonical({{0, 16, kRead}, {4, 4, kWrite}, {6, 1, kWrite | kChanged}}),
              ElementsAre(AccessRange{0, 4, kRead}, AccessRange{4, 2, kRead | kWrite},
                          AccessRange{6, 1, kRead | kWrite | kChanged}, AccessRange{7, 1, kRead | kWrite},
                          AccessRange{8, 8, kRead}));
}

TEST(AccessSet, ACommutativeWriteStaysSoOnlyBesideAnother) {
  const uint32_t add = kRead | kWrite | kChanged | kMore, plain = kRead | kWrite | kChanged;
  EXPECT_THAT(canonical({{0, 8, add}, {0, 8, add}}), ElementsAre(AccessRange{0, 8, add}));
  EXPECT_THAT(canonical({{0, 8, add | kAccessSetsBits}, {0, 8, add | kAccessSetsBits}}),
              ElementsAre(AccessRange{0, 8, add | kAccessSetsBits}));
  EXPECT_THAT(canonical({{0, 8, add}, {0, 8, add | kAccessSetsBits}}), ElementsAre(AccessRange{0, 8, plain}));
  EXPECT_THAT(canonical({{0, 8, add | kAccessClearsBits}, {0, 8, add | kAccessSetsBits}}),
              ElementsAre(AccessRange{0, 8, plain}));
  EXPECT_THAT(canonical({{0, 8, add}, {0, 8, kRead}}), ElementsAre(AccessRange{0, 8, kRead | kWrite | kChanged}));
}

// In every order and grouping, and through the file's four bits.
TEST(AccessSet, QualifiedWritesJoin) {
  constexpr uint32_t kPlain = kAccessRead | kAccessWrite | kAccessChanged;
  constexpr uint32_t kAdd = kPlain | kAccessAtomic, kFetch = kAdd | kAccessFetched, kBoth = kPlain | kAccessFetched;
  EXPECT_EQ(joined(kAdd, kFetch), kAdd);
  EXPECT_EQ(joined(kRead, kFetch), kBoth);
  EXPECT_EQ(joined(kRead, kAdd), kPlain);
  EXPECT_EQ(joined(kWrite | kChanged, kFetch), kPlain);
  EXPECT_EQ(joined(kBoth, kAdd), kPlain);
  constexpr uint32_t kSilent = kRead | kWrite | kMore, kUpdate = kPlain | kMore;
  constexpr uint32_t kAll[] = {kRead,
                               kWrite,
                               kPlain,
                               kAdd,
                               kAdd | kMore,
                               kFetch,
                               kBoth,
                               kSilent,
                               kUpdate,
                               kSilent | kAccessSetsBits,
                               kUpdate | kAccessSetsBits,
                               kSilent | kAccessClearsBits,
                               kUpdate | kAccessClearsBits};
  for (const uint32_t x : kAll) {
    EXPECT_EQ(flags_of_code(code_of(x)), x);
    EXPECT_LT(code_of(x), 16u);
    EXPECT_TRUE(is_sound({0, 8, x}));
    for (const uint32_t y : kAll) {
      EXPECT_EQ(joined(x, y), joined(y, x));
      for (const uint32_t z : kAll) EXPECT_EQ(joined(joined(x, y), z), joined(x, joined(y, z))) << x << y << z;
    }
  }
}

TEST(AccessSet, RangesThatCannotBeAreLeftOut) {
  EXPECT_TRUE(canonical({{0, 0, kRead}, {0, 8, 0}, {0, 8, kChanged}, {UINT64_MAX, 8, kRead}, {0, 8, 16}}).empty());
  constexpr uint32_t kUpdate = kRead | kWrite | kChanged | kMore;
  EXPECT_TRUE(canonical({{0, 8, kWrite | kMore},
                         {0, 8, kRead | kWrite | kAccessSetsBits},
                         {0, 8, kUpdate | kAccessBits},
                         {0, 8, kUpdate | kAccessAtomic | kAccessSetsBits}})
                  .empty());
  EXPECT_THAT(canonical({{UINT64_MAX - 8, 8, kRead}}), ElementsAre(AccessRange{UINT64_MAX - 8, 8, kRead}));
}

// Against byte by byte.
TEST(AccessSet, AnyRangesComeToWhatTheirBytesSay) {
  std::mt19937 random(3);
  constexpr uint32_t kFlags[] = {kRead,
                                 kWrite,
                                 kRead | kWrite,
                                 kWrite | kChanged,
                                 kRead | kWrite | kMore | kAccessSetsBits,
                                 kRead | kWrite | kMore};
  for (int round = 0; round < 2000; ++round) {
    std::vector<AccessRange> ranges;
    std::array<uint32_t, 80> bytes{};
    for (uint32_t i = 0, n = random() % 8; i < n; ++i) {
      ranges.push_back({random() % 60, 1 + static_cast<uint32_t>(random() % 16), kFlags[random() % 6]});
      for (uint64_t at = ranges.back().begin; at < ranges.back().end(); ++at) {
        bytes[at] = bytes[at] == 0 ? ranges.back().flags : joined(bytes[at], ranges.back().flags);
      }
    }
    make_canonical(ranges);
    uint64_t at = 0;
    for (size_t i = 0; i < ranges.size(); ++i) {
      const AccessRange& range = ranges[i];
      for (; at < range.begin; ++at) ASSERT_EQ(bytes[at], 0u);
      ASSERT_EQ(at, range.begin);
      for (; at < range.end(); ++at) ASSERT_EQ(bytes[at], range.flags);
      ASSERT_FALSE(i > 0 && ranges[i - 1].end() == range.begin && ranges[i - 1].flags == range.flags);
    }
    for (; at < bytes.size(); ++at) ASSERT_EQ(bytes[at], 0u);
  }
}

TEST(AccessSet, SurvivesTheFile) {
  std::vector<AccessRange> many;
  for (uint64_t i = 0; i < kAccessRangesMax; ++i) many.push_back({uint64_t{0x7fff'0000'0000} + i * 4096, 8, kRead});
  const std::vector<AccessRange> last{{0, 1, kRead},
                                      {UINT64_MAX - 8, 8, kAccessFlags & ~(kAccessCommutative | kAccessBits)}};
  const AccessSetRow rows[] = {{SetGap::complete, many}, {SetGap::lost, {}}, {SetGap::system_call, last}};
  std::vector<uint8_t> bytes;
  auto writer = Writer::create(std::make_unique<MemorySink>(bytes));
  for (int i = 0; i < 3; ++i) EXPECT_TRUE((*writer)->add_access_sets(rows).ok());
  EXPECT_TRUE((*writer)->finish({"exit"}).ok());
  const auto reader = Reader::from_bytes(bytes, "test");
  ASSERT_TRUE(reader.ok());
  Collected collected;
  EXPECT_EQ(reader->read(collected).blocks_damaged, 0u);
  ASSERT_EQ(collected.access_sets.size(), 9u);
  EXPECT_EQ(collected.access_sets.at(6).second, many);
  EXPECT_EQ(collected.access_sets.at(4).first, SetGap::lost);
  EXPECT_EQ(collected.access_sets.at(8).second, last);
  EXPECT_EQ(collected.access_sets.at(8).first, SetGap::system_call);
}

}  // namespace
}  // namespace contrafact::format
