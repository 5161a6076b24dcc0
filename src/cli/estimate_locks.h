// `contrafact estimate` with specs of locks: the recorded native run simulated with its critical sections changed.
#pragma once

#include <string>
#include <vector>

#include "cli/command.h"
#include "model/trace.h"
#include "whatif/lock_spec.h"

namespace contrafact::cli {

struct LockEstimateInput {
  const std::string& path;  // of the trace
  const model::Trace& trace;
  std::vector<whatif::LockSelector> apply;
  const std::string& output;  // where the simulated run goes; empty: nowhere
  uint32_t cores = 0;         // 0: the recorded machine's
  bool json = false;
};

// All of `paths` are specs of locks; an error if some are, or one cannot be read; none of them: empty.
base::Result<std::vector<whatif::LockSelector>> read_lock_specs(const std::vector<std::string>& paths);

// Prints, and returns the exit code.
int estimate_locks(const LockEstimateInput& input, const Session& session);

}  // namespace contrafact::cli
