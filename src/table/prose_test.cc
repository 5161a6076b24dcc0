#include "table/prose.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace contrafact::table {
namespace {

using testing::ElementsAre;

TEST(Prose, LinesEndBetweenWords) {
  EXPECT_THAT(broken_into_lines("one two three", 8), ElementsAre("one two", "three"));
  EXPECT_THAT(broken_into_lines("one two three", 7), ElementsAre("one two", "three"));
  EXPECT_THAT(broken_into_lines("one  incomprehensible", 5), ElementsAre("one", "incomprehensible"));
  EXPECT_THAT(broken_into_lines("", 5), ElementsAre());
  EXPECT_THAT(broken_into_lines("ö ö", 3), ElementsAre("ö ö"));  // columns, not bytes
}

TEST(Prose, AFigureStaysWithItsUnit) {
  EXPECT_THAT(broken_into_lines("it takes 5.83 s, and", 15), ElementsAre("it takes", "5.83 s, and"));
  EXPECT_THAT(broken_into_lines("it gains (-42 %) more", 15), ElementsAre("it gains", "(-42 %) more"));
  EXPECT_THAT(broken_into_lines("in all 12 sections", 10), ElementsAre("in all 12", "sections"));
}

TEST(Prose, SentencesGoOnBelowAndRowsStay) {
  EXPECT_EQ(wrap_prose("a sentence that is too long\n\nname   count of it, a wide row\n", 20),
            "a sentence that is\n  too long\n\nname   count of it, a wide row\n");
  EXPECT_EQ(wrap_prose("  an indented sentence that is long", 30), "  an indented sentence that\n    is long");
  EXPECT_EQ(wrap_prose("    a command --that is --long", 20), "    a command --that is --long");
  EXPECT_EQ(wrap_prose("a sentence that is too long", 0), "a sentence that is too long");
  EXPECT_EQ(wrap_prose("no line break at the end", 30), "no line break at the end");
}

}  // namespace
}  // namespace contrafact::table
