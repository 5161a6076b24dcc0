// Blocks of virtual threads that kept their carriers, as the agent of a JVM counted them (facts `pinned` and `pinned.N`,
// docs/format.md). Pure.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "model/trace.h"

namespace contrafact::analysis {

struct PinnedPlace {
  uint64_t blocks = 0;
  int64_t blocked_ns = 0;
  model::ContextId place;  // none: not known
};

struct PinnedBlocks {
  uint64_t blocks = 0;
  int64_t blocked_ns = 0;
  std::vector<PinnedPlace> places;  // the longest first; not all of them
};

PinnedBlocks pinned_blocks(const model::Trace& trace);

// "virtual threads were blocked 3 times, for 40 ms in all, and kept their carriers, longest at Cache.get (Cache.java:12)"; empty if
// none was.
std::string pinned_text(const model::Trace& trace);

}  // namespace contrafact::analysis
