// One replay in a process of its own, ended when its time is up, and what else the machine did meanwhile.
#pragma once

#include <string>

#include "replay/enforce/enforce.h"

namespace contrafact::replay {

struct ProcessRun {
  ReplayResult result;
  // Of the cores' time during the replay: what others used, the hypervisor's other guests among them.
  double foreign_share = 0;
};

// REQUIRES: the calling process has one thread. Errors: what `enforce` says; the limit was reached.
base::Result<ProcessRun> enforce_in_process(const std::string& path, Strategy strategy, double limit_s);

}  // namespace contrafact::replay
