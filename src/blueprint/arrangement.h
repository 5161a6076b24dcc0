// Arrangement: Graphviz's dot puts everything that is not called into one column, which makes of a graph in many pieces
// a strip that no screen can show. Here the pieces are put behind one another in rows. Pure functions.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "blueprint/graph.h"

namespace contrafact::blueprint {

// Pairs of nodes of different pieces, the first to the left of the second: as edges that are not drawn they make rows
// of about `row_columns(graph)` columns. Longer pieces first, of equally long ones the one with the heaviest node.
// Linear but for the sorting of the pieces.
std::vector<std::pair<uint32_t, uint32_t>> rows_of_pieces(const Graph& graph);

// So many that rows of rectangles with labels beside them are about twice as wide as they are high together.
size_t row_columns(const Graph& graph);

}  // namespace contrafact::blueprint
