#include "analysis/flow_graph.h"

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

#include "analysis/section_overlaps.h"
#include "base/saturating.h"
#include "graph/section_conflicts.h"

namespace contrafact::analysis {
namespace {

using format::FlowKind;

class FlowGraphBuilder {
 public:
  FlowGraphBuilder(const SectionFacts& facts, const model::SectionFlows& flows, bool control)
      : facts_(facts), flows_(flows), control_(control), sites_(facts.sites.sites().size()), locks_(sites_.size()) {}

  FlowGraph run() {
    count_sections();
    count_overlaps();
    count_flows();
    FlowGraph graph;
    for (uint32_t site = 0; site < sites_.size(); ++site) {
      if (sites_[site].sections > 0) graph.sites.push_back(finished(site));
    }
    for (const auto& [ends, edge] : edges_) graph.edges.push_back(edge);
    std::ranges::stable_sort(graph.sites, std::greater(), [](const FlowSite& site) {
      return std::tuple(site.wait_ns, site.overlapping, site.sections);
    });
    std::ranges::stable_sort(graph.edges, std::greater(), [](const FlowEdge& edge) {
      return std::tuple(edge.wait_ns, edge.memory_conflicts + edge.flows(), edge.lock_conflicts);
    });
    return graph;
  }

 private:
  void count_sections() {
    for (uint32_t s = 0; s < facts_.sections.size(); ++s) {
      const model::CriticalSection& section = facts_.sections[s];
      if (section.outcome != model::Outcome::normal) continue;
      if (!model::is_held(facts_.trace->locks[section.lock.index()].kind)) continue;
      FlowSite& site = sites_[facts_.site_of[s]];
      ++site.sections;
      site.tracked += flows_.known[s];
      site.wait_ns = base::add_saturated(site.wait_ns, section.wait_ns());
      ++locks_[facts_.site_of[s]][section.lock];
    }
  }

  FlowEdge& edge(uint32_t first, uint32_t second) {
    const uint32_t from = facts_.site_of[first], to = facts_.site_of[second];
    FlowEdge& found = edges_[{from, to}];
    found.from = from;
    found.to = to;
    return found;
  }

  void count_overlaps() {
    graph::SectionConflicts conflicts(facts_.sets);
    std::vector<bool> overlaps(facts_.sections.size());
    each_overlap(facts_, [&](const SectionOverlap& overlap) {
      overlaps[overlap.first] = overlaps[overlap.second] = true;
      const graph::PairKind kind =
          conflicts.between(facts_.sets.of_section[overlap.first], facts_.sets.of_section[overlap.second]);
      FlowEdge& counted = edge(overlap.first, overlap.second);
      ++counted.lock_conflicts;
      counted.memory_conflicts += kind == graph::PairKind::conflict;
      counted.unknown += kind == graph::PairKind::unknown;
      counted.wait_ns = base::add_saturated(counted.wait_ns, overlap.wait_ns);
    });
    for (uint32_t s = 0; s < overlaps.size(); ++s) sites_[facts_.site_of[s]].overlapping += overlaps[s];
  }

  void count_flows() {
    for (uint32_t s = 0; s < facts_.sections.size(); ++s) {
      for (const model::SectionFlows::Flow& flow : flows_.of(s)) {
        if (flow.kind == FlowKind::control && flows_.has(s, flow.source, false)) continue;
        if (flow.kind == FlowKind::control) ++sites_[facts_.site_of[s]].control_only;
        if (flow.kind == FlowKind::control && !control_) continue;
        FlowEdge& counted = edge(flow.source, s);
        ++(flow.kind == FlowKind::direct     ? counted.direct
           : flow.kind == FlowKind::indirect ? counted.indirect
                                             : counted.control);
      }
    }
  }

  FlowSite finished(uint32_t site) const {
    FlowSite found = sites_[site];
    found.site = site;
    found.locks = static_cast<uint32_t>(locks_[site].size());
    found.lock = std::ranges::max_element(locks_[site], {}, [](const auto& each) { return each.second; })->first;
    return found;
  }

  const SectionFacts& facts_;
  const model::SectionFlows& flows_;
  const bool control_;
  std::vector<FlowSite> sites_;
  std::vector<std::map<model::LockId, uint64_t>> locks_;  // by site: sections of each
  std::map<std::pair<uint32_t, uint32_t>, FlowEdge> edges_;
};

}  // namespace

FlowGraph flow_graph(const SectionFacts& facts, const model::SectionFlows& flows, bool control) {
  return FlowGraphBuilder(facts, flows, control).run();
}

}  // namespace contrafact::analysis
