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

// REQUIRES: the calling process has one thread. Errors: what `enforce` says; the limit was reached.
base::Result<ProcessRun> enforce_in_process(const std::string& path, Strategy strategy, double limit_s);

}  // namespace contrafact::replay
