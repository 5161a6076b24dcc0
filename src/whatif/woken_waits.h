// Waits that another thread ended, of any kind but for locks and permits: a JVM's blocks with the wakes that ended them, a native program's
// waits at conditions, semaphores and futexes with the signals. Pure; O(n log n) in the events.
#pragma once

#include <cstdint>
#include <vector>

#include "model/facts.h"

namespace contrafact::whatif {

// Events of the trace.
struct WokenWait {
  uint32_t begin, end;  // of the thread that waits
  uint32_t cause;       // of the one that woke it
};

// `by_all`: also by threads that are not simulated, as they deal with no task.
std::vector<WokenWait> woken_waits(const model::Facts& facts, bool by_all = false);

}  // namespace contrafact::whatif
