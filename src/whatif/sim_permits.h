// How many permits a recorded program's semaphores had at first: a simulated run in which more threads ask for them has
// to wait where the recorded one did not. Pure; O(n log n) in the events that take or give permits.
#pragma once

#include <vector>

#include "model/thread_state.h"
#include "model/trace.h"

namespace contrafact::whatif {

// By pool; SimProgram::kPermitsUnknown for those that are no pools of permits, and where a thread that is not simulated
// takes or gives some: it would never do so. Empty if none is known.
std::vector<uint32_t> find_permits(const model::Trace& trace, const std::vector<model::ThreadUse>& uses);

}  // namespace contrafact::whatif
