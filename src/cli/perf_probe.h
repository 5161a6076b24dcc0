// Whether the kernel lets an unprivileged process see its own context switches (they distinguish preempted from
// blocked).
#pragma once

#include <string>

namespace contrafact::cli {

struct PerfProbe {
  bool context_switches = false;
  std::string reason;  // the system's words where it does not
};

PerfProbe probe_perf_events();

}  // namespace contrafact::cli
