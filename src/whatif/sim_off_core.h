// Splits one thread's time into CPU and pauses. Belongs to one pass over one thread.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "model/processes.h"
#include "model/trace.h"
#include "model/vm_stops.h"

namespace contrafact::whatif {

// Stretches of one thread's time that are no CPU, in order: kernel gaps and stops of the virtual machine.
class OffCore {
 public:
  OffCore(const model::Trace& trace, uint32_t thread, bool has_switches) : has_switches_(has_switches) {
    static const std::vector<model::CpuGap> none;
    gaps_ = thread < trace.cpu.size() ? &trace.cpu[thread] : &none;
    pauses_ = &trace.pauses;
    if (trace.processes.empty()) return;
    const uint32_t process = model::process_of(trace, model::ThreadId(thread));
    for (const model::Pause& pause : trace.pauses)
      of_others_.push_back(model::process_of(trace, pause.thread) != process);
  }

  // Splits [begin, end) into calls of cpu(begin_ns, end_ns), preempted(begin_ns, end_ns), pause(begin_ns, end_ns) and
  // stopped(number), of the virtual machine's stop. Ranges only move forward.
  template <typename Cpu, typename Preempted, typename Paused, typename Stopped>
  void split(int64_t begin_ns, int64_t end_ns, Cpu&& cpu, Preempted&& preempted, Paused&& paused, Stopped&& stopped) {
    int64_t at_ns = begin_ns;
    reached_ns_ = std::max(reached_ns_, end_ns);
    while (at_ns < end_ns) {
      while (gap_ < gaps_->size() && (*gaps_)[gap_].in_ns <= at_ns) ++gap_;
      while (pause_ < pauses_->size() && ((*pauses_)[pause_].end_ns <= at_ns || is_of_other(pause_))) ++pause_;
      int64_t next_ns = end_ns;
      // Where the kernel reported switches, they show a stopped thread off its core. Elsewhere only the stop itself is
      // known.
      if (!has_switches_ && pause_ < pauses_->size()) {
        const model::Pause& pause = (*pauses_)[pause_];
        if (pause.begin_ns <= at_ns) {
          next_ns = std::min(end_ns, pause.end_ns);
          stopped(pause_);
          at_ns = next_ns;
          continue;
        }
        next_ns = std::min(next_ns, pause.begin_ns);
      }
      if (gap_ < gaps_->size()) {
        const model::CpuGap& gap = (*gaps_)[gap_];
        if (gap.out_ns <= at_ns) {
          next_ns = std::min(end_ns, gap.in_ns);
          if (gap.preempted) {
            preempted(at_ns, next_ns);
          } else if (pause_ < pauses_->size() && model::is_stop(gap, (*pauses_)[pause_])) {
            stopped(pause_);
          } else {
            paused(at_ns, next_ns);
          }
          at_ns = next_ns;
          continue;
        }
        next_ns = std::min(next_ns, gap.out_ns);
      }
      cpu(at_ns, next_ns);
      at_ns = next_ns;
    }
  }

  // The end of the latest range.
  int64_t reached_ns() const { return reached_ns_; }

 private:
  bool is_of_other(size_t pause) const { return pause < of_others_.size() && of_others_[pause]; }

  bool has_switches_;
  const std::vector<model::CpuGap>* gaps_;
  const std::vector<model::Pause>* pauses_;
  std::vector<bool> of_others_;  // pauses that stopped other processes; empty where there is one process
  size_t gap_ = 0;
  size_t pause_ = 0;
  int64_t reached_ns_ = INT64_MIN;
};

}  // namespace contrafact::whatif
