#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "blueprint/arrangement.h"
#include "blueprint/graph_page.h"
#include "blueprint/views.h"
#include "table/value_text.h"

namespace contrafact::blueprint {
namespace {

// In inches, as Graphviz wants it. A node without the metric is still to be seen and clicked.
constexpr double kSideMin = 0.12;
constexpr double kSideMax = 2.2;
// In points.
constexpr double kEdgeMin = 0.6;
constexpr double kEdgeMax = 9;
// Of the labels, 9 points: the width of a letter with some room, and the height of a line.
constexpr double kLetterInches = 0.08;
constexpr double kLabelInches = 0.2;

double scaled(uint64_t value, uint64_t largest, Scale scale) {
  if (largest == 0) return 0;
  const double share = static_cast<double>(value) / static_cast<double>(largest);
  return scale == Scale::root ? std::sqrt(share) : share;
}

std::string counts(const Node& node) {
  return fmt::format(
      "{} objects, {}; calls made {}, received {}", table::count_text(static_cast<int64_t>(node.objects)),
      table::bytes_text(static_cast<double>(node.bytes)), table::count_text(static_cast<int64_t>(node.calls_made)),
      table::count_text(static_cast<int64_t>(node.calls_received)));
}

std::string_view look(Node::Kind kind) {
  switch (kind) {
    case Node::outside:
      return "style=\"dashed\"";
    case Node::folded:
      return "style=\"filled,dashed\" fillcolor=\"#e4e7ea\"";
    case Node::element:
      break;
  }
  return "style=\"filled\" fillcolor=\"#a9c6ea\"";
}

struct Largest {
  uint64_t width = 0;
  uint64_t height = 0;
  uint64_t calls = 0;
};

// Of the elements alone: the folded node would make all of them small.
Largest largest_of(const Graph& graph, const View& view) {
  Largest largest;
  for (const Node& node : graph.nodes) {
    if (node.kind != Node::element) continue;
    largest.width = std::max(largest.width, node.value(view.width));
    largest.height = std::max(largest.height, node.value(view.height));
  }
  for (const Edge& edge : graph.edges) largest.calls = std::max(largest.calls, edge.calls);
  return largest;
}

std::string node_line(const Graph& graph, size_t i, const View& view, const Largest& largest) {
  const Node& node = graph.nodes[i];
  const bool sized = node.kind == Node::element;
  const double own_width = static_cast<double>(node.label.size() + 2) * kLetterInches;
  const double width =
      sized ? std::max(kSideMin, kSideMax * scaled(node.value(view.width), largest.width, view.scale)) : own_width;
  const double height =
      sized ? std::max(kSideMin, kSideMax * scaled(node.value(view.height), largest.height, view.scale)) : 0.3;
  // A label that fits is in the rectangle, otherwise beside it.
  const bool inside = static_cast<double>(node.label.size()) * kLetterInches < width && height > kLabelInches;
  return fmt::format("  n{} [width={:.3f} height={:.3f} {}={} {} tooltip={}];\n", i, width, height,
                     inside ? "label" : "label=\"\" xlabel", dot_quoted(node.label), look(node.kind),
                     dot_quoted(fmt::format("{}: {}", node.name, counts(node))));
}

std::string edge_line(const Graph& graph, const Edge& edge, const Largest& largest) {
  const double width = std::max(kEdgeMin, kEdgeMax * scaled(edge.calls, largest.calls, Scale::linear));
  const std::string count = table::count_text(static_cast<int64_t>(edge.calls));
  const std::string tip =
      dot_quoted(fmt::format("{} calls {}: {} times", graph.nodes[edge.from].name, graph.nodes[edge.to].name, count));
  return fmt::format("  n{} -> n{} [penwidth={:.2f} arrowsize={:.2f} tooltip={} edgetooltip={}];\n", edge.from, edge.to,
                     width, std::clamp(2 / std::sqrt(width + 1), 0.4, 0.9), tip, tip);
}

}  // namespace

std::string dot_view(const Graph& graph, const View& view) {
  const Largest largest = largest_of(graph, view);
  std::string out = fmt::format(
      "digraph blueprint {{\n"
      "  graph [rankdir=LR nodesep=0.25 ranksep=1.4 forcelabels=true bgcolor=\"white\" tooltip={}];\n"
      "  node [shape=box fixedsize=true fontname=\"DejaVu Sans\" fontsize=9 color=\"#2c3e55\" penwidth=0.8];\n"
      "  edge [color=\"#2c3e5590\"];\n",
      dot_quoted(view.title));
  for (size_t i = 0; i < graph.nodes.size(); ++i) out += node_line(graph, i, view, largest);
  for (const Edge& edge : graph.edges) out += edge_line(graph, edge, largest);
  for (const auto& [before, behind] : rows_of_pieces(graph)) {
    out += fmt::format("  n{} -> n{} [style=invis];\n", before, behind);
  }
  return out + "}\n";
}

}  // namespace contrafact::blueprint
