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

// By threads that are simulated.
std::vector<WokenWait> woken_waits(const model::Facts& facts);
// Also by threads that are not, as they deal with no task.
std::vector<WokenWait> waits_woken_by_any(const model::Facts& facts);

}  // namespace contrafact::whatif
