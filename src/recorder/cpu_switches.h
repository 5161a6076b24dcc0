// CpuSwitches: when each thread of a process left its core and came back, and whether it was preempted, from the
// kernel. Needs no privilege where perf_event_paranoid is 2 or less. cpu_switches_linux.cc says how.
//
// Thread safety: one thread at a time.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "base/result.h"

namespace contrafact::recorder {

struct CpuSwitch {
  int64_t time_ns;  // CLOCK_MONOTONIC
  uint32_t os_pid, os_tid;
  bool in;         // else out
  bool preempted;  // for out: it could have gone on
};

class CpuSwitches {
 public:
  // Watches the threads that exist now, and all that they start later. The error says what the kernel refused.
  static base::Result<std::unique_ptr<CpuSwitches>> open();
  // Watches the programs that the current thread starts from now on, from their first instruction (exec), and whatever
  // they start.
  static base::Result<std::unique_ptr<CpuSwitches>> open_for_programs();
  virtual ~CpuSwitches() = default;
  // Appends the switches since the last call, except the latest ones, which other CPUs may still be writing; with
  // `last`, those too. The switches of one thread are in order of time.
  virtual void read(std::vector<CpuSwitch>& switches, bool last) = 0;
  // Switches that the kernel had no room for.
  virtual uint64_t lost() const = 0;
};

}  // namespace contrafact::recorder
