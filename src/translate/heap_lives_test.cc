#include "translate/heap_lives.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <vector>

namespace contrafact::translate {

static bool operator==(const Access& x, const Access& y) {
  return x.begin == y.begin && x.length_bytes == y.length_bytes && x.flags == y.flags;
}

namespace {

using testing::ElementsAre;
using testing::SizeIs;

class HeapLivesTest : public testing::Test {
 protected:
  static constexpr uint64_t kBlock = 0x10000;

  void SetUp() override { ASSERT_TRUE(lives_.create()); }
  uint64_t named(uint64_t address) const { return address | uint64_t{lives_.at(address)} << kLifeShift; }
  // The set of a segment with these accesses.
  std::vector<Access> name(std::vector<Access> accesses, size_t room = 100) {
    std::vector<Access> out(room);
    out.resize(std::min(room, segment_->name(accesses, out.data(), room, lives_)));
    return out;
  }
  HeapLives lives_;
  std::unique_ptr<SegmentBlocks> segment_ = std::make_unique<SegmentBlocks>();
};

TEST_F(HeapLivesTest, EachAllocationBeginsALife) {
  EXPECT_EQ(lives_.at(kBlock), 0);
  EXPECT_FALSE(lives_.any());
  lives_.begin(kBlock, 40);
  EXPECT_TRUE(lives_.any());
  const uint16_t first = lives_.at(kBlock);
  EXPECT_NE(first, 0);
  EXPECT_EQ(lives_.at(kBlock + 39), first);
  EXPECT_EQ(lives_.at(kBlock + 40), 0);
  lives_.begin(kBlock, 24);
  EXPECT_NE(lives_.at(kBlock), first);
  EXPECT_EQ(lives_.at(kBlock + 24), first);  // memory behind it is another block's, if anybody's
}

TEST_F(HeapLivesTest, ALifeDoesNotComeAgainForWhatOthersAllocate) {
  lives_.begin(kBlock, 40);
  const uint16_t first = lives_.at(kBlock);
  for (int i = 1; i < UINT16_MAX; ++i) lives_.begin(kBlock + 4096, 40);
  lives_.begin(kBlock, 40);
  EXPECT_NE(lives_.at(kBlock), first);
}

TEST_F(HeapLivesTest, ALargerBlockHasALifeThatNoneOfItsPartsHad) {
  lives_.begin(kBlock, 32);
  lives_.begin(kBlock + 32, 32);
  lives_.begin(kBlock + 32, 32);
  const uint16_t first = lives_.at(kBlock), second = lives_.at(kBlock + 32);
  lives_.begin(kBlock, 64);
  EXPECT_EQ(lives_.at(kBlock), lives_.at(kBlock + 32));
  EXPECT_NE(lives_.at(kBlock), first);
  EXPECT_NE(lives_.at(kBlock), second);
}

// Eight bytes that two blocks share must not change their life while one of them lives on.
TEST_F(HeapLivesTest, WhatABlockHasInPartStaysAsItIs) {
  lives_.begin(kBlock + 4, 16);
  EXPECT_EQ(lives_.at(kBlock + 4), 0);
  EXPECT_NE(lives_.at(kBlock + 8), 0);
  EXPECT_EQ(lives_.at(kBlock + 16), 0);
}

TEST_F(HeapLivesTest, ABlockOverPages) {
  lives_.begin(kBlock - 64, 10'000);
  EXPECT_EQ(lives_.at(kBlock - 64), lives_.at(kBlock + 9'928));
  EXPECT_EQ(lives_.end_of(kBlock - 64, kBlock + 20'000), kBlock + 9'936);
  EXPECT_EQ(lives_.end_of(kBlock - 4096, kBlock + 20'000), kBlock - 64);
  EXPECT_EQ(lives_.end_of(kBlock + 9'936, kBlock + 20'000), kBlock + 20'000);
}

TEST_F(HeapLivesTest, WhatTheSegmentAllocatedIsNotInItsSet) {
  segment_->begin();
  segment_->allocated(kBlock, 64, lives_);
  const Access before{kBlock - 8, 8, kAccessRead}, in{kBlock + 8, 8, kAccessWrite}, behind{kBlock + 64, 4, kAccessRead};
  EXPECT_THAT(name({before, in, behind}), ElementsAre(before, behind));
  EXPECT_THAT(name({{kBlock - 8, 100, kAccessRead}}), ElementsAre(before, Access{kBlock + 64, 28, kAccessRead}));
  segment_->begin();  // from then on others may have it
  EXPECT_THAT(name({in}), ElementsAre(Access{named(kBlock + 8), 8, kAccessWrite}));
}

TEST_F(HeapLivesTest, TwoLivesAtOneAddressAreTwoPlaces) {
  segment_->allocated(kBlock, 64, lives_);
  segment_->begin();
  const std::vector<Access> first = name({{kBlock, 8, kAccessRead}});
  segment_->freed(kBlock, 64, lives_);
  SegmentBlocks other{};
  other.allocated(kBlock, 64, lives_);
  EXPECT_EQ(name({{kBlock, 8, kAccessRead}}), first);  // it was freed after that
  segment_->begin();
  const std::vector<Access> second = name({{kBlock, 8, kAccessRead}});
  ASSERT_THAT(second, SizeIs(1));
  EXPECT_NE(first[0].begin, second[0].begin);
  EXPECT_EQ(first[0].begin % (uint64_t{1} << kLifeShift), kBlock);
}

// The segment accessed a block that it freed: which accesses came after the allocation is unknown.
TEST_F(HeapLivesTest, WhatASegmentFreesAndAllocatesAgainCountsAsOne) {
  lives_.begin(kBlock, 64);
  segment_->begin();
  const uint64_t before = named(kBlock);
  segment_->freed(kBlock, 64, lives_);
  segment_->allocated(kBlock, 48, lives_);
  EXPECT_THAT(name({{kBlock, 8, kAccessRead}}), ElementsAre(Access{before, 8, kAccessRead}));
  segment_->begin();
  EXPECT_NE(name({{kBlock, 8, kAccessRead}})[0].begin, before);
}

TEST_F(HeapLivesTest, RangesAreCutWhereLivesChange) {
  lives_.begin(kBlock, 32);
  lives_.begin(kBlock, 32);
  lives_.begin(kBlock + 32, 32);
  const uint64_t first = named(kBlock), second = named(kBlock + 32);
  EXPECT_THAT(name({{kBlock, 100, kAccessWrite}}),
              ElementsAre(Access{first, 32, kAccessWrite}, Access{second, 32, kAccessWrite},
                          Access{kBlock + 64, 36, kAccessWrite}));
  Access few[2];
  const Access whole{kBlock, 100, kAccessWrite};
  EXPECT_EQ(segment_->name({&whole, 1}, few, 2, lives_), 3u);
}

TEST_F(HeapLivesTest, StateOfTheKernelHasNone) {
  segment_->allocated(kBlock, 64, lives_);
  const Access state{uint64_t{1} << 63 | kBlock, 1, kAccessRead};
  EXPECT_THAT(name({state}), ElementsAre(state));
}

}  // namespace
}  // namespace contrafact::translate
