// A graph as DOT (which Graphviz lays out), as tables for CSV and terminals, and as a page around Graphviz's picture.
// Pure functions.
#pragma once

#include <string>

#include "blueprint/graph.h"
#include "table/table.h"

namespace contrafact::blueprint {

enum class Scale : uint8_t { linear, root };

struct View {
  Level level = Level::method;
  Metric width = Metric::objects;
  Metric height = Metric::bytes;
  Scale scale = Scale::linear;  // of widths and heights
  std::string title;            // what was profiled
};

// Rectangles whose width and height show the two metrics, edges whose width shows the calls; each with a tooltip.
std::string dot_view(const Graph& graph, const View& view);

// `svg`: of dot_view, laid out.
std::string page_view(const Graph& graph, const View& view, const Profile& profile, std::string svg);

extern const table::Schema kNodesSchema;
extern const table::Schema kEdgesSchema;
table::Table node_table(const Graph& graph);
table::Table edge_table(const Graph& graph);

}  // namespace contrafact::blueprint
