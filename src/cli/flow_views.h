// The conflict graph as DOT and as a page: places that ask for locks, and three kinds of edges between them.
#pragma once

#include <string>

#include "cli/flow_tables.h"

namespace contrafact::cli {

struct FlowView {
  const analysis::SectionFacts& facts;
  const analysis::FlowGraph& graph;
  const advise::FlowAdvice& advice;
  size_t sites_max = 40;  // the first ones are drawn
  std::string title;
};

// Rectangles as wide as their place was waited at; edges that are wider for more pairs: grey for the lock alone, red for
// memory, green for flows (dashed: by branches alone).
std::string flow_dot(const FlowView& view);
// `svg`: of flow_dot, laid out. `notes`: sentences.
std::string flow_page(const FlowView& view, std::vector<std::string> notes, std::string svg);

}  // namespace contrafact::cli
