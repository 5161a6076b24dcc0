#include "analysis/pinned_blocks.h"

#include <gtest/gtest.h>

#include "model/text_trace.h"

namespace contrafact::analysis {
namespace {

std::string text_of(const std::string& facts) {
  const auto trace =
      model::parse_text(facts +
                        "method m1 shop.Cache.get Cache.java:10\ncontext c1 - m1:12\nthread t \"\" virtual_thread\n"
                        "0 t thread_begin\n");
  EXPECT_TRUE(trace.ok());
  return pinned_text(*trace);
}

TEST(PinnedBlocks, AreCountedWithTheirLongestPlace) {
  EXPECT_EQ(text_of(""), "");
  EXPECT_EQ(text_of("fact pinned \"1 2500000\"\nfact pinned.0 \"1 2500000 -\"\n"),
            "virtual threads were blocked once, for 2.5 ms in all, and kept their carriers");
  EXPECT_EQ(text_of("fact pinned \"3 40000000\"\nfact pinned.0 \"2 30000000 0\"\nfact pinned.1 \"1 10000000 7\"\n"),
            "virtual threads were blocked 3 times, for 40 ms in all, and kept their carriers, longest at Cache.get "
            "(Cache.java:12)");
  EXPECT_EQ(text_of("fact pinned \"x\"\n"), "");
}

}  // namespace
}  // namespace contrafact::analysis
