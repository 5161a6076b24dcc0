// The conflict graph (FlowProf, section 6): the places that ask for locks, and how often sections of one place came in
// the way of sections of another one: for the lock, for memory, or because information went from one to the other.
//
// Pure function. Linear in the overlaps (section_overlaps.h) and the flows; each pair of different sets is compared once.
#pragma once

#include <cstdint>
#include <vector>

#include "analysis/section_facts.h"
#include "model/section_flows.h"

namespace contrafact::analysis {

struct FlowSite {
  uint32_t site = 0;         // of SectionFacts::sites
  model::LockId lock;        // the one that most of its sections are of
  uint32_t locks = 0;        // how many different ones
  uint64_t sections = 0;     // that were held
  uint64_t overlapping = 0;  // of these, with another one
  uint64_t tracked = 0;      // of these, whose flows are known
  int64_t wait_ns = 0;       // of the sections
  // How often a branch or an index in one of its sections depended on what another section had, and no value carried
  // it. Where this is often, the flows are a weak lower bound.
  uint64_t control_only = 0;
};

// From the site of the sections that came first to that of those that came after them.
struct FlowEdge {
  uint32_t from = 0, to = 0;                       // sites, of SectionFacts::sites
  uint64_t lock_conflicts = 0;                     // pairs that overlapped
  uint64_t memory_conflicts = 0;                   // of these, those whose accesses conflict
  uint64_t unknown = 0;                            // of these, those of which that is not known
  uint64_t direct = 0, indirect = 0, control = 0;  // flows, whether the two overlapped or not
  int64_t wait_ns = 0;                             // of the later ones, for the earlier ones

  uint64_t flows() const { return direct + indirect + control; }
};

struct FlowGraph {
  std::vector<FlowSite> sites;  // the longest wait first, then by overlapping sections
  std::vector<FlowEdge> edges;  // likewise, then by conflicts and flows
};

// `flows` are of the sections of `facts`, model::with_outside. Control flows are edges with `control` alone.
FlowGraph flow_graph(const SectionFacts& facts, const model::SectionFlows& flows, bool control);

}  // namespace contrafact::analysis
