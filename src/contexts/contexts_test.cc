#include <gmock/gmock.h>

#include "contexts/views.h"
#include "table/render.h"

namespace contrafact::contexts {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

// Outside calls main, main calls parse and render, parse calls itself; render only passes on to write.
constexpr const char* kText = R"json({"format":"contrafact contexts","version":1,
"run":{"lost":0,"calls_beyond":3,"objects_beyond":1,"bytes_beyond":40},
"methods":[["","(outside)","","",0],["shop.Main","main","()V","Main.java",5],["shop.Feed","parse","()V","Feed.java",9],
["shop.Feed","render","()V","Feed.java",20],["shop.Page$Row","write","()V","Page.java",3]],
"contexts":[[0,0,0,0,0],[0,1,1,1,16],[1,2,4,2,100],[2,2,4,3,50],[1,3,7,0,0],[4,4,7,7,700]]
})json";

Profile small() {
  auto profile = read_profile(kText);
  EXPECT_TRUE(profile.ok());
  return *profile;
}

std::vector<std::string> column(const table::Table& table, size_t which) {
  std::vector<std::string> texts;
  for (const auto& row : table.rows()) texts.push_back(std::get<std::string>(row[which].value()));
  return texts;
}

TEST(Contexts, TotalsHoldWhatIsWithin) {
  const std::vector<Counts> totals = totals_of(small());
  EXPECT_EQ(totals[0].bytes, 866u);
  EXPECT_EQ(totals[2].bytes, 150u);
  EXPECT_EQ(totals[2].calls, 8u);
  EXPECT_EQ(totals[4].objects, 7u);
}

TEST(Contexts, TheTreeIsHeaviestFirstAndShorterByWhatPassesOn) {
  EXPECT_THAT(column(tree_table(small(), Metric::bytes, 10), 5),
              ElementsAre("(outside)", " Main.main", "  +1 Page$Row.write", "  Feed.parse", "   Feed.parse"));
  // render has calls of its own.
  EXPECT_THAT(
      column(tree_table(small(), Metric::calls, 10), 5),
      ElementsAre("(outside)", " Main.main", "  Feed.render", "   Page$Row.write", "  Feed.parse", "   Feed.parse"));
}

TEST(Contexts, TheTopIsATree) {
  const table::Table table = tree_table(small(), Metric::bytes, 4);
  EXPECT_THAT(column(table, 5), ElementsAre("(outside)", " Main.main", "  +1 Page$Row.write"));
  EXPECT_THAT(table.notes(), ElementsAre(HasSubstr("the 4 heaviest of 6 contexts"), HasSubstr("3 calls and 40 bytes")));
}

TEST(Contexts, FoldedStacksHaveWhatIsTheirOwn) {
  EXPECT_EQ(folded(small(), Metric::bytes),
            "shop.Main.main 16\n"
            "shop.Main.main;shop.Feed.parse 100\n"
            "shop.Main.main;shop.Feed.parse;shop.Feed.parse 50\n"
            "shop.Main.main;shop.Feed.render;shop.Page$Row.write 700\n");
}

TEST(Contexts, AllOfThemAreInTheTableForOtherPrograms) {
  const table::Table table = context_table(small());
  ASSERT_EQ(table.rows().size(), 6u);
  EXPECT_THAT(table::render_csv(table), HasSubstr("\n4,1,shop.Feed.render,Feed.java:20,7,0,0,700\n"));
}

TEST(Contexts, WhatIsMalformedIsSaid) {
  const auto error = [](std::string_view from, std::string_view to) {
    std::string text = kText;
    const size_t at = text.find(from);
    EXPECT_NE(at, std::string::npos) << from;
    text.replace(at, from.size(), to);
    auto profile = read_profile(text);
    return profile.ok() ? std::string() : profile.error().message;
  };
  EXPECT_THAT(error("\"contrafact contexts\"", "\"contrafact blueprint\""), HasSubstr("--analysis contexts"));
  EXPECT_THAT(error("\"version\":1", "\"version\":2"), HasSubstr("version 2"));
  EXPECT_THAT(error("[0,1,1,1,16]", "[1,1,1,1,16]"), HasSubstr("context 1 is malformed"));
  EXPECT_THAT(error("[0,1,1,1,16]", "[0,9,1,1,16]"), HasSubstr("context 1 is malformed"));
  EXPECT_THAT(error("[0,1,1,1,16]", "[0,1,1,16]"), HasSubstr("context 1 is malformed"));
  EXPECT_THAT(error("\"Main.java\",5", "5,5"), HasSubstr("method 1 is malformed"));
  EXPECT_THAT(error("]]\n}", "]]"), HasSubstr("not JSON"));
  EXPECT_THAT(error("\"contexts\":", "\"contests\":"), HasSubstr("without methods or contexts"));
}

}  // namespace
}  // namespace contrafact::contexts
