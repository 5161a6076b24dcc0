#include "base/middle.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

namespace contrafact::base {
namespace {

TEST(Middle, TheMedianOfAnEvenNumberIsBetweenTheTwoInTheMiddle) {
  std::vector<int64_t> odd{9, 1, 5}, even{10, 1, 4, 3}, one{7};
  EXPECT_EQ(median(std::span(odd)), 5);
  EXPECT_EQ(median(std::span(even)), 3.5);
  EXPECT_EQ(median(std::span(one)), 7);
}

TEST(Middle, TheLongestTwentiethIsLeftOut) {
  std::vector<int64_t> few(19, 2), many(40, 2);
  few[3] = 1000;  // of fewer than twenty values, none is
  many[0] = 1000;
  many[30] = 2000;
  EXPECT_EQ(without_longest(std::span(few)).size(), 19u);
  EXPECT_THAT(without_longest(std::span(many)), testing::Each(2));
  EXPECT_EQ(mean(without_longest(std::span(many))), 2);
  EXPECT_EQ(mean(std::span(many)), (38 * 2 + 3000) / 40.0);
}

}  // namespace
}  // namespace contrafact::base
