#include <gmock/gmock.h>

#include "blueprint/arrangement.h"
#include "blueprint/graph.h"
#include "blueprint/views.h"

namespace contrafact::blueprint {
namespace {

using testing::HasSubstr;

// A calls B 5 times and itself twice; B calls C of another class 7 times; somebody outside calls A once.
Profile small() {
  Profile profile;
  profile.methods = {{"", "(outside)", "", "", 0, 0, 0},
                     {"shop.Feed", "a", "()V", "Feed.java", 3, 10, 100},
                     {"shop.Feed", "b", "()V", "Feed.java", 9, 1, 1000},
                     {"shop.api.Page$Row", "c", "()V", "Page.java", 5, 2, 20}};
  profile.calls = {{0, 1, 1}, {1, 2, 5}, {1, 1, 2}, {2, 3, 7}};
  return profile;
}

const Node& named(const Graph& graph, std::string_view label) {
  for (const Node& node : graph.nodes) {
    if (node.label == label) return node;
  }
  ADD_FAILURE() << "no node " << label;
  return graph.nodes.front();
}

uint64_t calls(const Graph& graph, std::string_view from, std::string_view to) {
  for (const Edge& edge : graph.edges) {
    if (graph.nodes[edge.from].label == from && graph.nodes[edge.to].label == to) return edge.calls;
  }
  return 0;
}

TEST(RollUp, MethodsKeepWhatIsTheirs) {
  const Graph graph = roll_up(small(), Level::method);
  const Node& a = named(graph, "Feed.a");
  EXPECT_EQ(a.name, "shop.Feed.a()V");
  EXPECT_EQ(a.place, "Feed.java:3");
  EXPECT_EQ(a.calls_made, 7u);
  EXPECT_EQ(a.calls_received, 3u);
  EXPECT_EQ(a.callees, 1u);  // itself not counted
  EXPECT_EQ(calls(graph, "Feed.a", "Feed.a"), 2u);
  EXPECT_EQ(calls(graph, "Feed.b", "Page$Row.c"), 7u);
}

TEST(RollUp, ClassesAndPackagesSumUp) {
  const Graph classes = roll_up(small(), Level::class_);
  EXPECT_EQ(classes.nodes.size(), 3u);
  EXPECT_EQ(named(classes, "Feed").objects, 11u);
  EXPECT_EQ(named(classes, "Feed").bytes, 1100u);
  EXPECT_EQ(calls(classes, "Feed", "Feed"), 7u);
  EXPECT_EQ(calls(classes, "Feed", "Page$Row"), 7u);
  const Graph packages = roll_up(small(), Level::package);
  EXPECT_EQ(named(packages, "shop").objects, 11u);
  EXPECT_EQ(named(packages, "shop.api").objects, 2u);
}

TEST(Focus, KeepsTheHeaviestAndFoldsTheRest) {
  const Graph graph = roll_up(small(), Level::method);
  const Graph part = focus(graph, {.width = Metric::objects, .height = Metric::objects, .nodes_max = 1});
  ASSERT_EQ(part.nodes.size(), 3u);
  EXPECT_EQ(part.nodes[0].label, "Feed.a");
  EXPECT_EQ(part.nodes[1].kind, Node::outside);
  EXPECT_EQ(part.nodes[2].kind, Node::folded);
  EXPECT_EQ(part.nodes[2].label, "2 others");
  EXPECT_EQ(part.nodes[2].objects, 3u);
  EXPECT_EQ(calls(part, "Feed.a", "2 others"), 5u);
  EXPECT_EQ(calls(part, "2 others", "2 others"), 0u);
  const Graph by_bytes = focus(graph, {.width = Metric::bytes, .height = Metric::bytes, .nodes_max = 1});
  EXPECT_EQ(by_bytes.nodes[0].label, "Feed.b");
}

TEST(Focus, SaysWhichEdgesItLeftOut) {
  const Graph part = focus(roll_up(small(), Level::method), {.nodes_max = 10, .edges_max = 1});
  ASSERT_EQ(part.edges.size(), 1u);
  EXPECT_EQ(part.edges[0].calls, 7u);
  EXPECT_EQ(part.edges_left_out, 3u);
  EXPECT_EQ(part.calls_left_out, 8u);
}

TEST(Focus, PicturesSayHowManyCallsTheyDoNotDraw) {
  const Graph part =
      focus(roll_up(small(), Level::method),
            {.width = Metric::objects, .height = Metric::objects, .nodes_max = 1, .edges_of_folded = false});
  EXPECT_EQ(calls(part, "Feed.a", "2 others"), 0u);
  EXPECT_EQ(calls(part, "Feed.a", "Feed.a"), 2u);
  EXPECT_EQ(part.calls_of_folded, 5u);
  EXPECT_EQ(part.edges_left_out, 0u);
  EXPECT_THAT(page_view(part, {}, small(), ""), HasSubstr("5 calls from or to what was folded are not drawn."));
}

// Ten nodes are three columns. 1 -> 0 -> 2 fill a row, 4 <-> 3 and 5 the next, 6, 7, 8 and 9 the rest.
TEST(Arrangement, PutsPiecesBehindOneAnother) {
  Graph graph;
  graph.nodes.resize(10);
  graph.edges = {{1, 0, 1}, {0, 2, 1}, {3, 4, 1}, {4, 3, 1}, {5, 5, 1}};
  EXPECT_EQ(row_columns(graph), 3u);
  EXPECT_THAT(rows_of_pieces(graph),
              testing::ElementsAre(testing::Pair(4, 5), testing::Pair(6, 7), testing::Pair(7, 8)));
  EXPECT_THAT(rows_of_pieces({}), testing::IsEmpty());
  EXPECT_THAT(dot_view(graph, {}), HasSubstr("n4 -> n5 [style=invis]"));
}

TEST(Dot, NamesOfTheProgramCannotBreakOut) {
  Profile profile = small();
  profile.methods[1].name = "a\"];\n\\evil";
  const std::string dot = dot_view(roll_up(profile, Level::method), {.title = "t"});
  EXPECT_THAT(dot, HasSubstr("a\\\"];?\\\\evil"));
}

TEST(Page, NamesOfTheProgramCannotBreakOut) {
  Profile profile = small();
  profile.methods[1].name = "<script>";
  const Graph graph = roll_up(profile, Level::method);
  const std::string page = page_view(graph, {.title = "a<b"}, profile, "<?xml?><svg></svg>");
  EXPECT_THAT(page, HasSubstr("<title>a&lt;b</title>"));
  EXPECT_THAT(page, HasSubstr("Feed.&lt;script&gt;"));
  EXPECT_THAT(page, testing::Not(HasSubstr("<?xml")));
}

TEST(Metrics, AreFoundByName) {
  for (const MetricName& metric : kMetrics) EXPECT_EQ(metric_of(metric.name), metric.metric);
  EXPECT_EQ(metric_of("weight"), std::nullopt);
  EXPECT_EQ(title_of(Metric::callers), "different callers");
}

}  // namespace
}  // namespace contrafact::blueprint
