#include "cli/flow_views.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "analysis/lock_profile.h"
#include "blueprint/graph_page.h"
#include "table/value_text.h"

namespace contrafact::cli {
namespace {

// In inches, as Graphviz wants it; a letter of 9 points with some room.
constexpr double kNodeLeast = 0.6, kNodeMost = 3.2, kNodeHeight = 0.34, kLetterWidth = 0.08;
// In points.
constexpr double kLineLeast = 0.8, kLineMost = 7;

constexpr std::string_view kGrey = "#8a949e", kRed = "#c22525", kGreen = "#1d8a3c";

class FlowDot {
 public:
  explicit FlowDot(const FlowView& view) : view_(view) {
    for (const analysis::FlowSite& site : view.graph.sites) {
      if (node_of_.size() == view.sites_max) break;
      node_of_.emplace(site.site, node_of_.size());
      wait_most_ns_ = std::max(wait_most_ns_, site.wait_ns);
    }
    for (const analysis::FlowEdge& edge : view.graph.edges)
      count_most_ = std::max({count_most_, edge.lock_conflicts, edge.flows()});
  }

  std::string run() {
    std::string out = fmt::format(
        "digraph flow {{\n"
        "  graph [rankdir=LR nodesep=0.4 ranksep=1.6 bgcolor=\"white\" tooltip={}];\n"
        "  node [shape=box style=\"filled\" fillcolor=\"#a9c6ea\" fontname=\"DejaVu Sans\" fontsize=9 "
        "color=\"#2c3e55\" penwidth=0.8];\n"
        "  edge [fontname=\"DejaVu Sans\" fontsize=8];\n",
        blueprint::dot_quoted(view_.title));
    for (const analysis::FlowSite& site : view_.graph.sites) out += node_line(site);
    for (const analysis::FlowEdge& edge : view_.graph.edges) {
      if (!node_of_.contains(edge.from) || !node_of_.contains(edge.to)) continue;
      const uint64_t lock_only = edge.lock_conflicts - edge.memory_conflicts;
      out += edge_line(edge, lock_only, "overlap without a known conflict", kGrey, "solid");
      out += edge_line(edge, edge.memory_conflicts, "overlap and conflict", kRed, "solid");
      out += edge_line(edge, edge.direct + edge.indirect, "flows", kGreen, "solid");
      out += edge_line(edge, edge.control, "flows by a branch or an index alone", kGreen, "dashed");
    }
    return out + "}\n";
  }

 private:
  const std::string& label(uint32_t site) const { return view_.facts.sites.sites()[site].label; }

  std::string node_line(const analysis::FlowSite& site) const {
    const auto node = node_of_.find(site.site);
    if (node == node_of_.end()) return "";
    const double share = wait_most_ns_ > 0 ? static_cast<double>(site.wait_ns) / static_cast<double>(wait_most_ns_) : 0;
    const double letters = static_cast<double>(label(site.site).size() + 2) * kLetterWidth;
    const std::string tip = fmt::format(
        "{}: {} of {}, {}; waited {}", label(site.site), table::counted_text(site.sections, "section", "sections"),
        analysis::lock_name(*view_.facts.trace, site.lock),
        fmt::format("{} with another one", table::counted_text(site.overlapping, "overlaps", "overlap")),
        table::duration_text(static_cast<double>(site.wait_ns)));
    return fmt::format("  n{} [label={} width={:.2f} height={:.2f} tooltip={}];\n", node->second,
                       blueprint::dot_quoted(label(site.site)), std::max({kNodeLeast, kNodeMost * share, letters}),
                       kNodeHeight, blueprint::dot_quoted(tip));
  }

  std::string edge_line(const analysis::FlowEdge& edge, uint64_t count, std::string_view what, std::string_view colour,
                        std::string_view style) const {
    if (count == 0) return "";
    const double share = static_cast<double>(count) / static_cast<double>(std::max<uint64_t>(count_most_, 1));
    const std::string tip = blueprint::dot_quoted(fmt::format("{}, then {}: {} {}", label(edge.from), label(edge.to),
                                                              table::count_text(static_cast<int64_t>(count)), what));
    return fmt::format(
        "  n{} -> n{} [color=\"{}\" fontcolor=\"{}\" style={} penwidth={:.2f} arrowsize=0.7 label=\"{}\" tooltip={} "
        "edgetooltip={} labeltooltip={}];\n",
        node_of_.at(edge.from), node_of_.at(edge.to), colour, colour, style, std::max(kLineLeast, kLineMost * share),
        count, tip, tip, tip);
  }

  const FlowView& view_;
  std::map<uint32_t, size_t> node_of_;  // by site
  int64_t wait_most_ns_ = 0;
  uint64_t count_most_ = 0;
};

}  // namespace

std::string flow_dot(const FlowView& view) {
  return FlowDot(view).run();
}

std::string flow_page(const FlowView& view, std::vector<std::string> notes, std::string svg) {
  if (view.graph.sites.size() > view.sites_max)
    notes.push_back(fmt::format("Drawn are the {} of {} places that were waited at longest.", view.sites_max,
                                view.graph.sites.size()));
  return blueprint::graph_page(
      {.title = view.title,
       .explain = "Each rectangle is a place that asks for a lock, the wider the longer threads waited there. An edge "
                  "goes from sections that came first to sections behind them, and says how many pairs it stands for. "
                  "Grey: they overlap, and nothing is known to conflict. Red: they overlap and conflict. Green: the "
                  "second one got information from the first; dashed: by a branch or an index alone. Red without green "
                  "is a conflict that the computation does not need.",
       .notes = std::move(notes),
       .tables = {{"Orders", flow_orders_table(view.advice)},
                  {"Locks", flow_locks_table(view.facts, view.advice)},
                  {"Places", flow_sites_table(view.facts, view.graph, view.advice.impact)},
                  {"Edges", flow_edges_table(view.facts, view.graph)}}},
      std::move(svg));
}

}  // namespace contrafact::cli
