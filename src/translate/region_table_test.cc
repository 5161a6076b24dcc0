#include "translate/region_table.h"

#include <gtest/gtest.h>

#include <memory>

namespace contrafact::translate {
namespace {

class RegionTableTest : public testing::Test {
 protected:
  void put(uint64_t begin, uint64_t end, CodeKind kind) {
    ASSERT_TRUE(table_.edit(begin, end, true, [&](Region& region) { region.kind = kind; }));
  }
  CodeKind kind(uint64_t address) const {
    const Region* region = table_.find(address);
    return region ? region->kind : CodeKind::none;
  }
  void expect_order() const {
    for (size_t i = 0; i < table_.size(); ++i) {
      EXPECT_LT(table_[i].begin, table_[i].end);
      if (i == 0) continue;
      EXPECT_LE(table_[i - 1].end, table_[i].begin);
    }
  }

  const std::unique_ptr<RegionTable> owner_ = std::make_unique<RegionTable>();
  RegionTable& table_ = *owner_;
};

TEST_F(RegionTableTest, FindsWhatLiesAtAnAddress) {
  put(20, 30, CodeKind::program);
  put(10, 15, CodeKind::constant);
  EXPECT_EQ(kind(9), CodeKind::none);
  EXPECT_EQ(kind(10), CodeKind::constant);
  EXPECT_EQ(kind(14), CodeKind::constant);
  EXPECT_EQ(kind(15), CodeKind::none);
  EXPECT_EQ(kind(29), CodeKind::program);
  EXPECT_EQ(kind(30), CodeKind::none);
  EXPECT_TRUE(table_.knows_any(0, 11));
  EXPECT_TRUE(table_.knows_any(14, 100));
  EXPECT_FALSE(table_.knows_any(15, 20));
  EXPECT_FALSE(table_.knows_any(30, 31));
  EXPECT_FALSE(table_.knows_any(12, 12));
}

TEST_F(RegionTableTest, EditsPiecesAndGaps) {
  put(10, 20, CodeKind::program);
  put(30, 40, CodeKind::program);
  put(15, 35, CodeKind::constant);
  expect_order();
  ASSERT_EQ(table_.size(), 3u);
  EXPECT_EQ(table_[1].begin, 15u);
  EXPECT_EQ(table_[1].end, 35u);
  ASSERT_TRUE(table_.edit(12, 38, false, [](Region& region) { region.kind = CodeKind::none; }));
  expect_order();
  ASSERT_EQ(table_.size(), 2u);
  EXPECT_EQ(table_[0].end, 12u);
  EXPECT_EQ(table_[1].begin, 38u);
}

TEST_F(RegionTableTest, LeavesGapsAlone) {
  put(10, 20, CodeKind::program);
  int pieces = 0;
  ASSERT_TRUE(table_.edit(0, 100, false, [&](Region& region) {
    ++pieces;
    region.state = CodeState::replaced;
  }));
  EXPECT_EQ(pieces, 1);
  EXPECT_EQ(table_.size(), 1u);
  EXPECT_EQ(table_.find(25), nullptr);
}

TEST_F(RegionTableTest, JoinsPiecesThatAreAlikeAgain) {
  put(0, 100, CodeKind::program);
  for (uint64_t at = 0; at < 100; at += 10) put(at, at + 5, CodeKind::constant);
  EXPECT_EQ(table_.size(), 20u);
  put(0, 100, CodeKind::program);
  EXPECT_EQ(table_.size(), 1u);
}

TEST_F(RegionTableTest, SaysWhenThereIsNoRoom) {
  for (uint64_t i = 0; i < RegionTable::kRegionsMax; ++i) put(2 * i, 2 * i + 1, CodeKind::program);
  const auto set = [](Region& region) { region.kind = CodeKind::constant; };
  EXPECT_FALSE(table_.edit(1'000'000, 1'000'001, true, set));
  EXPECT_TRUE(table_.edit(0, 1, true, set));
  EXPECT_EQ(kind(0), CodeKind::constant);
}

}  // namespace
}  // namespace contrafact::translate
