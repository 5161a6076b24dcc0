// The use of cores, as the kernel reported it: how long threads ran on one, and how often they left it, preempted or
// blocked; and how much of the cores' time other programs used while threads of this program wanted it.
//
// Thread safety: immutable after construction. Times are of CLOCK_MONOTONIC, in ns.
#pragma once

#include <optional>
#include <vector>

#include "model/facts.h"
#include "model/trace.h"

namespace contrafact::analysis {

struct CpuUse {
  int64_t cpu_ns = 0;
  int64_t preempted_ns = 0;  // ready to run, and without a core
  int64_t blocked_ns = 0;
  uint64_t preemptions = 0, blocks = 0;  // how often it left its core for that reason
};

class CpuTimes {
 public:
  // Its arguments must outlive it. Cost: linear in the switches.
  explicit CpuTimes(const model::Trace& trace);

  // False: the kernel did not report switches, or there were none. Then the figures below mean nothing.
  bool known() const { return known_; }
  // The thread's time on a core in [begin_ns, end_ns). Logarithmic in its switches.
  int64_t cpu_ns(model::ThreadId thread, int64_t begin_ns, int64_t end_ns) const;
  // From the thread's first event to its last.
  CpuUse of_thread(model::ThreadId thread) const;

 private:
  int64_t off_before_ns(size_t thread, int64_t time_ns) const;

  const model::Trace& trace_;
  bool known_ = false;
  std::vector<std::vector<int64_t>> off_ns_;  // by thread and gap: time off its core up to the gap's begin
};

// The share of the recorded run's core time (cores times duration) that other programs used while threads of this
// program were preempted: a lower bound of their use. Empty if the kernel did not report switches, or if the trace does
// not say how many cores there were. Cost: a sort of the switches.
std::optional<double> foreign_share(const model::Facts& facts);

}  // namespace contrafact::analysis
