// One replay in a process of its own, ended when its time is up, and the other use of the machine meanwhile.
#pragma once

#include <string>

#include "replay/enforce/enforce.h"

namespace contrafact::replay {

struct ProcessRun {
  ReplayResult result;
  // The share of the cores' time during the replay that other programs used, including the hypervisor's other guests.
  double foreign_share = 0;
};

// On `cores` of those that the calling process may use; 0: on all of them. REQUIRES: the calling process has one thread.
// Errors: what `enforce` says; the limit was reached; there are not so many cores.
base::Result<ProcessRun> enforce_in_process(const std::string& path, Strategy strategy, double limit_s,
                                            uint32_t cores = 0);

// How many the calling process may use.
uint32_t cores_to_use();

}  // namespace contrafact::replay
