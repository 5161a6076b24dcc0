// The times at which a recorded program's own threads used all of its cores, so that a thread that could go on had to
// wait for one. Where the kernel reported switches, they follow from the threads' stints on cores; where it did not,
// from the threads that ran, as sim_share.h counts them.
//
// Immutable after construction; O(n log n) in the changes of running threads, O(log n) a question.
#pragma once

#include <cstdint>
#include <vector>

#include "model/thread_state.h"
#include "model/trace.h"
#include "whatif/sim_share.h"

namespace contrafact::whatif {

class Crowding {
 public:
  Crowding() = default;  // never
  // `changes`: of the threads that run, in order of time. `cores` 0: not known, hence never.
  Crowding(const std::vector<RunningChange>& changes, uint32_t cores);
  // From the switches that the kernel reported.
  Crowding(const model::Trace& trace, const std::vector<model::ThreadUse>& uses, uint32_t cores);
  // The same for the program's threads and the virtual machine's own together.
  static Crowding with_vm(const model::Trace& trace, const std::vector<model::ThreadUse>& uses, uint32_t cores);

  // The part of [begin, end) during which all cores were in use.
  int64_t ns(int64_t begin_ns, int64_t end_ns) const { return until(end_ns) - until(begin_ns); }

 private:
  struct Stretch {
    int64_t begin_ns, end_ns;
    int64_t before_ns;  // the lengths of all stretches before
  };
  int64_t until(int64_t time_ns) const;

  std::vector<Stretch> stretches_;
};

}  // namespace contrafact::whatif
