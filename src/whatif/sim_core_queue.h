// How long a thread that came back to a core may have waited for it, from the kernel's context switches. These do not
// show which threads have been woken and have no core yet. The thread waited no longer than the run of the thread that
// left the core right before, and no longer than the kernel lets one thread run while others wait. A simulation adds
// such waiting by itself. Where no thread of the program left a core then, the core was free, or another program used
// it.
//
// Immutable after construction; O(log switches) a question.
#pragma once

#include <cstdint>
#include <vector>

#include "model/trace.h"

namespace contrafact::whatif {

class CoreQueue {
 public:
  CoreQueue() = default;  // nothing is known: every core was free
  explicit CoreQueue(const model::Trace& trace);

  // The longest possible wait of a thread that was off its core in [out_ns, in_ns).
  int64_t waited_ns(int64_t out_ns, int64_t in_ns) const;

 private:
  struct Left {
    int64_t out_ns;
    int64_t ran_ns;
  };
  std::vector<Left> left_;  // sorted
};

}  // namespace contrafact::whatif
