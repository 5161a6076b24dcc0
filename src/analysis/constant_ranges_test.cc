#include "analysis/constant_ranges.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "analysis/text_trace_for_test.h"

namespace contrafact::analysis {
namespace {

using testing::ElementsAre;
using testing::Pair;

TEST(ConstantRanges, AreThoseOfFilesThatStayed) {
  const model::Trace trace = parsed(
      "fact module.0 \"10 0 1000 2000 3000 ab /lib/a.so\"\nfact constants.0 \"3000 3800 1000 1800 1700 1900\"\n"
      "fact module.1 \"10 20 5000 5000 6000 cd /lib/b.so\"\nfact constants.1 \"6000 7000\"\n"
      "fact constants.2 \"9000 a000\"\nfact module.3 \"10 0 0 b000 c000 - /lib/c.so\"\nfact constants.3 \"c000 c000 "
      "zz\"\n");
  const ConstantRanges ranges = constant_ranges(trace);
  EXPECT_THAT(ranges, ElementsAre(Pair(0x1000, 0x1900), Pair(0x3000, 0x3800)));
  EXPECT_TRUE(is_constant(ranges, 0x1000));
  EXPECT_TRUE(is_constant(ranges, 0x37ff));
  EXPECT_FALSE(is_constant(ranges, 0x3800));
  EXPECT_FALSE(is_constant(ranges, 0xfff));
  EXPECT_FALSE(is_constant({}, 0x1000));
}

}  // namespace
}  // namespace contrafact::analysis
