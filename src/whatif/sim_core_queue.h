// How long a thread that came back to a core may have waited for it, from the kernel's context switches, which do not
// show who has been woken and has no core yet. It waited no longer than the thread had run that left the core right
// before, nor than the kernel lets one run while others wait. A simulation adds such waiting by itself. Where no thread
// of the program left a core then, it was free, or others had it.
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

  // At most, of a thread that was off its core in [out_ns, in_ns).
  int64_t waited_ns(int64_t out_ns, int64_t in_ns) const;

 private:
  struct Left {
    int64_t out_ns;
    int64_t ran_ns;
  };
  std::vector<Left> left_;  // sorted
};

}  // namespace contrafact::whatif
