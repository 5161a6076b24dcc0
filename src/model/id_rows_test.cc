#include "model/id_rows.h"

#include <gtest/gtest.h>

namespace contrafact::model {
namespace {

TEST(IdRows, WithoutHolesAnIdIsItsRow) {
  IdRows rows;
  EXPECT_TRUE(rows.add(0, 3));
  EXPECT_TRUE(rows.add(3, 2));
  EXPECT_EQ(rows.rows(), 5u);
  EXPECT_EQ(rows.row_of(0), 0u);
  EXPECT_EQ(rows.row_of(4), 4u);
  EXPECT_EQ(rows.row_of(5), IdRows::kNone);
  EXPECT_EQ(rows.row_of(IdRows::kNone), IdRows::kNone);
}

TEST(IdRows, HolesTakeNoRows) {
  IdRows rows;
  EXPECT_TRUE(rows.add(2, 1));
  EXPECT_TRUE(rows.add(4'000'000'000, 2));
  EXPECT_TRUE(rows.add(4'000'000'002, 1));
  EXPECT_EQ(rows.rows(), 4u);
  EXPECT_EQ(rows.row_of(1), IdRows::kNone);
  EXPECT_EQ(rows.row_of(2), 0u);
  EXPECT_EQ(rows.row_of(3), IdRows::kNone);
  EXPECT_EQ(rows.row_of(4'000'000'002), 3u);
  EXPECT_EQ(rows.row_of(4'000'000'003), IdRows::kNone);
}

TEST(IdRows, IdsThatDoNotFollowAreRefused) {
  IdRows rows;
  EXPECT_TRUE(rows.add(5, 5));
  EXPECT_FALSE(rows.add(9, 1));
  EXPECT_FALSE(rows.add(0, 1));
  EXPECT_FALSE(rows.add(IdRows::kNone - 1, 2));
  EXPECT_EQ(rows.rows(), 5u);
  EXPECT_TRUE(rows.add(10, 1));
}

TEST(IdRows, LostOnesStandBehindTheOthers) {
  IdRows rows;
  rows.add(1, 2);
  rows.add(10, 2);
  rows.add_lost({0, 5, 6, 4'294'967'294});
  EXPECT_EQ(rows.rows(), 8u);
  EXPECT_EQ(rows.row_of(1), 0u);
  EXPECT_EQ(rows.row_of(11), 3u);
  EXPECT_EQ(rows.row_of(0), 4u);
  EXPECT_EQ(rows.row_of(5), 5u);
  EXPECT_EQ(rows.row_of(6), 6u);
  EXPECT_EQ(rows.row_of(4'294'967'294), 7u);
  EXPECT_EQ(rows.row_of(7), IdRows::kNone);
}

}  // namespace
}  // namespace contrafact::model
