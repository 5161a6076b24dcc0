// Graph: who calls whom and who allocates, for methods or, rolled up, for classes or packages; and its heaviest part.
// Pure functions.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "blueprint/profile.h"

namespace contrafact::blueprint {

enum class Level : uint8_t { method, class_, package };

enum class Metric : uint8_t { objects, bytes, calls_made, calls_received, callees, callers };

struct MetricName {
  Metric metric;
  std::string_view name;   // on the command line
  std::string_view title;  // in pictures
};
inline constexpr MetricName kMetrics[] = {
    {Metric::objects, "objects", "objects allocated"}, {Metric::bytes, "bytes", "bytes allocated"},
    {Metric::calls_made, "calls-made", "calls made"},  {Metric::calls_received, "calls-received", "calls received"},
    {Metric::callees, "callees", "different callees"}, {Metric::callers, "callers", "different callers"},
};
std::optional<Metric> metric_of(std::string_view name);
std::string_view title_of(Metric metric);

struct Node {
  enum Kind : uint8_t { element, outside, folded };

  std::string name;   // whole: shop.api.Feed.render(Ljava/lang/String;)V, shop.api.Feed, shop.api
  std::string label;  // short: Feed.render, Feed, shop.api
  std::string place;  // Feed.java:41; empty if not known or not one
  Kind kind = element;
  uint32_t members = 1;  // how many elements; of `folded`
  uint64_t objects = 0;
  uint64_t bytes = 0;
  uint64_t calls_made = 0;
  uint64_t calls_received = 0;
  uint64_t callees = 0;  // different ones, itself not counted
  uint64_t callers = 0;

  uint64_t value(Metric metric) const;
};

struct Edge {
  uint32_t from = 0;  // places in `nodes`
  uint32_t to = 0;
  uint64_t calls = 0;
};

struct Graph {
  std::vector<Node> nodes;
  std::vector<Edge> edges;  // one for each pair; from == to: calls within
  // What focus() did not keep.
  uint64_t edges_left_out = 0;
  uint64_t calls_left_out = 0;
  uint64_t calls_of_folded = 0;  // between what was folded and the rest, where those have no edges
};

// Calls between elements that fall into one node stay as an edge to itself; a method's are its recursion. Linear but
// for the sorting of the edges.
Graph roll_up(const Profile& profile, Level level);

struct Focus {
  Metric width = Metric::objects;
  Metric height = Metric::bytes;
  size_t nodes_max = 40;
  size_t edges_max = 120;
  bool edges_of_folded = true;  // they lead everywhere, and show little in a picture
};

// The heaviest nodes, by their shares of the two metrics, heaviest first; the others folded into one node, the last. Of
// the edges, those with the most calls are kept. The node of code outside is kept if anything calls or is called
// through it.
Graph focus(const Graph& graph, const Focus& focus);

}  // namespace contrafact::blueprint
