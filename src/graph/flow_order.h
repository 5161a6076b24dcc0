// The order of critical sections in which information flows, and no other: what is left of the recorded order if no
// section has to wait for another one but for what that one computed (FlowProf, section 6.1).
//
// A section comes after each section that it got information from, under whatever lock. What code outside of sections got
// counts as model::with_outside says.
//
// A section of which it is not known what it got keeps its place among all of its lock's; a lock that has readers and
// such sections keeps its recorded order. Linear, but for the sorting
// of each section's predecessors.
#pragma once

#include <vector>

#include "graph/section_order.h"
#include "model/section_flows.h"

namespace contrafact::graph {

struct FlowOrderOptions {
  bool control = false;          // flows by branches and indexes alone count, too
  std::vector<bool> relax = {};  // by lock: whether its order is reduced; empty: all are
};

// `flows` are of `sections`, with_outside; and `recorded` is their recorded_order.
SectionOrder flow_order(const model::Trace& trace, std::span<const model::CriticalSection> sections,
                        const model::SectionFlows& flows, const SectionOrder& recorded,
                        const FlowOrderOptions& options = {});

}  // namespace contrafact::graph
