// What pages with a graph share, whatever the graph is of: strings of DOT, tables, and the page around Graphviz's picture,
// which can be zoomed, searched and clicked. Pure functions.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "table/table.h"

namespace contrafact::blueprint {

// A double-quoted string of DOT. Backslashes are doubled: DOT has escapes of its own.
std::string dot_quoted(std::string_view text);

struct PageTable {
  std::string heading;
  table::Table rows;
};

// Plain text; the page escapes it.
struct GraphPage {
  std::string title;
  std::string explain;             // what rectangles and edges are; sentences
  std::vector<std::string> notes;  // below the picture
  std::vector<PageTable> tables;
};

// `svg`: Graphviz's picture, whose nodes are named n0, n1, ...
std::string graph_page(const GraphPage& page, std::string svg);

}  // namespace contrafact::blueprint
