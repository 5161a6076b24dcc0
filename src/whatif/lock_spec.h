// Improvement specs of locks, in the same schema as those of tasks (spec.h, docs/improvement-spec.md). Written only:
// which critical sections a site has in another recording, and what they touch there, `contrafact ulc` finds out anew.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "whatif/lock_improvement.h"

namespace contrafact::whatif {

struct LockSpec {
  const LockImprovement* improvement = nullptr;
  std::vector<model::ContextId> sites;  // where the source changes: their innermost frames
  std::vector<std::string> locks;       // names
  uint64_t of_sections = 0;
  uint32_t parts = 0;  // split-lock
};

// Indented JSON. Deterministic.
std::string write_lock_spec(const model::Trace& trace, std::span<const LockSpec> specs);

}  // namespace contrafact::whatif
