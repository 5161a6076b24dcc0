#include <gtest/gtest.h>

#include "report/granularity_picture.h"
#include "report/profile.h"

namespace contrafact::report {
namespace {

RunProfile sample(std::string name, int64_t duration_ns) {
  return {std::move(name), "measured", "run.cft", duration_ns, {{0, 1, 0, 2}, {duration_ns / 2, 1, 2, 0}}};
}

TEST(Resample, MeansOverEachPart) {
  Series series = resample(sample("base", 100), 100, 4);
  EXPECT_EQ(series.waiting, (std::vector<double>{0, 0, 2, 2}));
  EXPECT_EQ(series.unoccupied, (std::vector<double>{2, 2, 0, 0}));
  EXPECT_EQ(resample(sample("base", 100), 100, 1).waiting, (std::vector<double>{1}));
}

TEST(Resample, NothingBeyondTheRunsEnd) {
  EXPECT_EQ(resample(sample("base", 100), 200, 4).active, (std::vector<double>{1, 1}));
  EXPECT_EQ(resample(sample("base", 100), 400, 2).active, (std::vector<double>{1}));
  EXPECT_TRUE(resample({}, 100, 4).active.empty());
}

TEST(Page, HoldsEverythingAndReachesForNothing) {
  const table::Schema schema{"t", "A table.", {{"name", "name", table::Type::text, table::Unit::none, "N."}}};
  table::Table table(schema);
  table.add_row({std::string("<script>alert(1)</script>")});
  std::string page =
      profile_page({"A & B", "run", {sample("base", 100), sample("x</script>", 50)}, {{"Metrics", &table}}});
  EXPECT_NE(page.find("<h1>A &amp; B</h1>"), std::string::npos);
  EXPECT_NE(page.find("Dygraph"), std::string::npos);
  EXPECT_NE(page.find("&lt;script&gt;alert(1)"), std::string::npos);
  EXPECT_EQ(page.find("x</script>"), std::string::npos) << "data must not end its element";
  EXPECT_EQ(page.find("src=\"http"), std::string::npos);
  EXPECT_EQ(page.find("<link"), std::string::npos);
  EXPECT_EQ(page.find("{{data}}"), std::string::npos);
}

TEST(Picture, OneCurveForEachRun) {
  std::string svg = profile_svg("Profile", {sample("base", 2'000'000'000), sample("estimated", 1'000'000'000)});
  EXPECT_NE(svg.find("class=\"curve run0\" d=\"M"), std::string::npos);
  EXPECT_NE(svg.find("class=\"curve run1\" d=\"M"), std::string::npos);
  EXPECT_NE(svg.find("threads occupied"), std::string::npos);
  EXPECT_NE(svg.find("base (measured, 2 s)"), std::string::npos);
}

TEST(GranularityPicture, ACurveForEachClassAndOnesOverTime) {
  GranularityPicture picture{.title = "Granularity <of> tasks",
                             .curves = {{"1: a & b", {10, 100, 1000}, {0, 1, 1}}, {"2: c", {50}, {1, 0, 0}}},
                             .run_s = 0.3,
                             .preempted = {0, 5, 0},
                             .blocked = {1, 2, 3},
                             .used = {0, 1, 0.5}};
  const std::string svg = granularity_svg(picture);
  EXPECT_NE(svg.find("class=\"curve c0\" d=\"M"), std::string::npos);
  EXPECT_NE(svg.find("class=\"curve c1\" d=\"M"), std::string::npos);
  EXPECT_NE(svg.find("class=\"curve preempted\" d=\"M"), std::string::npos);
  EXPECT_NE(svg.find("<rect class=\"b1\""), std::string::npos) << "the span in which the class is active";
  EXPECT_NE(svg.find("Granularity &lt;of&gt; tasks"), std::string::npos);
  EXPECT_NE(svg.find("1: a &amp; b"), std::string::npos);
  picture.used.clear();
  EXPECT_EQ(granularity_svg(picture).find("Context switches"), std::string::npos) << "of no known activity";
}

TEST(GranularityPicture, ThePageHoldsItAndReachesForNothing) {
  const table::Schema schema{"t", "A table.", {{"name", "name", table::Type::text, table::Unit::none, "N."}}};
  table::Table table(schema);
  table.add_row({std::string("<script>")});
  const std::string page = granularity_page({.picture = {.title = "T", .curves = {{"1: a", {1, 2}, {}}}},
                                             .subtitle = "java & more",
                                             .notes = {"a < b"},
                                             .tables = {{"Granularity", &table}}});
  EXPECT_NE(page.find("<svg"), std::string::npos);
  EXPECT_NE(page.find("java &amp; more"), std::string::npos);
  EXPECT_NE(page.find("a &lt; b"), std::string::npos);
  EXPECT_NE(page.find("&lt;script&gt;"), std::string::npos);
  EXPECT_EQ(page.find("src="), std::string::npos);
  EXPECT_EQ(page.find("{{"), std::string::npos);
}

}  // namespace
}  // namespace contrafact::report
