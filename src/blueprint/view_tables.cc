#include "blueprint/views.h"

namespace contrafact::blueprint {
using table::Type;
using table::Unit;

const table::Schema kNodesSchema{
    "blueprint_nodes",
    "Methods, classes or packages, what they allocate and whom they call.",
    {{"name", "name", Type::name, Unit::none, "The method with its parameters' types, the class, or the package."},
     {"objects", "objects", Type::integer, Unit::none, "Objects and arrays that it allocated."},
     {"bytes", "bytes", Type::integer, Unit::bytes, "Heap that these took, with headers and padding."},
     {"calls_made", "calls made", Type::integer, Unit::none, "Calls of profiled methods out of it."},
     {"calls_received", "received", Type::integer, Unit::none, "Calls of it."},
     {"callees", "callees", Type::integer, Unit::none, "Different ones that it called, itself not counted.", 2},
     {"callers", "callers", Type::integer, Unit::none, "Different ones that called it, itself not counted.", 2},
     {"place", "place", Type::text, Unit::none, "Source file, and a method's first line.", 1}}};

const table::Schema kEdgesSchema{"blueprint_edges",
                                 "Who called whom how often.",
                                 {{"caller", "caller", Type::name, Unit::none,
                                   "The nearest profiled method on the stack, its class, or its package."},
                                  {"callee", "callee", Type::name, Unit::none, "What it called."},
                                  {"calls", "calls", Type::integer, Unit::none, "How often."}}};

namespace {

table::Cell count(uint64_t value) {
  return static_cast<int64_t>(value);
}

}  // namespace

table::Table node_table(const Graph& graph) {
  table::Table out(kNodesSchema);
  for (const Node& node : graph.nodes) {
    // For folded elements it is unknown which callees are the same.
    const bool folded = node.kind == Node::folded;
    out.add_row({node.name, count(node.objects), count(node.bytes), count(node.calls_made), count(node.calls_received),
                 folded ? table::Cell() : count(node.callees), folded ? table::Cell() : count(node.callers),
                 node.place.empty() ? table::Cell() : table::Cell(node.place)});
  }
  out.set_empty_reason("nothing was profiled: no method was chosen, or none ran");
  return out;
}

table::Table edge_table(const Graph& graph) {
  table::Table out(kEdgesSchema);
  for (const Edge& edge : graph.edges) {
    out.add_row({graph.nodes[edge.from].name, graph.nodes[edge.to].name, count(edge.calls)});
  }
  out.set_empty_reason("no calls were profiled");
  return out;
}

}  // namespace contrafact::blueprint
