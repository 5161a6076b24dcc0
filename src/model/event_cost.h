// What recording one event cost the thread that it happened on.
//
// Between a task's completion and its end, a pool's worker does next to nothing where nobody has to be woken: the time
// between these two events is the recorder's. A run with many small tasks is longer for it, and shorter by as much where
// there are fewer tasks.
//
// Pure; linear in the events.
#pragma once

#include <cstdint>

#include "model/trace.h"

namespace contrafact::model {

// The tenth percentile of these times, at most 200 ns; 0 where fewer than a hundred tasks show it.
int64_t event_cost_ns(const Trace& trace);

}  // namespace contrafact::model
