// How many of the program's threads used or wanted a core over the recorded run, from the kernel's context switches.
// This distinguishes waits for a core, which a simulation adds by itself, from other delays. A thread that has been
// woken and has no core yet is not seen.
//
// Immutable after construction; O(log switches) a question.
#pragma once

#include <cstdint>
#include <vector>

#include "model/trace.h"

namespace contrafact::whatif {

class BusyCores {
 public:
  BusyCores() = default;  // nothing is known: some core was always free
  BusyCores(const model::Trace& trace, uint32_t cores);

  bool was_free(int64_t time_ns) const { return crowded_since(time_ns) == time_ns; }
  // The time since which every core was wanted without a break; `time_ns` itself if one was free.
  int64_t crowded_since(int64_t time_ns) const;

 private:
  struct Interval {
    int64_t begin_ns;
    int64_t end_ns;
  };
  std::vector<Interval> crowded_;  // sorted, apart
};

}  // namespace contrafact::whatif
