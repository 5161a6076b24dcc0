// How many permits a recorded program's semaphores had at first. If more threads ask for permits in a simulated run, it
// has to wait where the recorded one did not. Pure; O(n log n) in the events that take or give permits.
#pragma once

#include <vector>

#include "model/thread_state.h"
#include "model/trace.h"

namespace contrafact::whatif {

// By pool; SimProgram::kPermitsUnknown for pools that are no pools of permits, and where a thread that is not simulated
// takes or gives permits: it would never do so in the simulation. Empty if none is known.
std::vector<uint32_t> find_permits(const model::Trace& trace, const std::vector<model::ThreadUse>& uses);

}  // namespace contrafact::whatif
