// Improvement specs of locks, in the same schema as those of tasks (spec.h, docs/improvement-spec.md). A spec names the
// optimisation and the code that changes; which critical sections that code has in another recording, and what they
// touch there, is found out anew by whoever applies it.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "whatif/lock_improvement.h"

namespace contrafact::whatif {

struct LockSpec {
  const LockImprovement* improvement = nullptr;
  std::vector<model::ContextId> sites;  // where the source changes: their innermost frames
  std::vector<std::string> locks;       // names
  uint64_t of_sections = 0;
  uint32_t parts = 0;        // split-lock
  std::string_view verdict;  // what to think of its gain in this recording
};

// Indented JSON. Deterministic.
std::string write_lock_spec(const model::Trace& trace, std::span<const LockSpec> specs);

// Of one improvement of a spec.
struct LockSelector {
  LockOptimisation optimisation = LockOptimisation::drop_lock;
  std::vector<std::string> sites;  // frame_key of each
  std::vector<std::string> locks;  // names in the recording that it is from
  std::string program;             // file name of what ran there; may be empty
};

// Text that is equal for equal innermost frames of two recordings, "update (table.cc:12)"; where there is no line, the
// address in the file.
std::string frame_key(const model::Trace& trace, model::ContextId id);

// File name of the program that was recorded; empty if the trace does not say.
std::string program_of(const model::Trace& trace);

// Errors say what is wrong with the spec. Members that are not needed may be missing.
base::Result<std::vector<LockSelector>> read_lock_spec(std::string_view json);

}  // namespace contrafact::whatif
