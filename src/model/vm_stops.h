// Finds the part of a thread's time off its core that is due to a stop of the virtual machine.
//
// When a collector stops a thread, the kernel reports one sleep. It covers the stop, and then the time until a core is
// free for the thread, which on a crowded machine is longer than the stop. Here such a gap is cut at the stop's begin
// and end. Before the stop, the thread stands at its stopping point until the other threads reach theirs; after it, the
// thread waits for a core. Both are waits for cores, by this thread or by others. Nothing is changed for a thread that
// slept already, or that waited or blocked by its own events.
#pragma once

#include "model/trace.h"

namespace contrafact::model {

// Whether the pause caused the gap, as cut here.
bool is_stop(const CpuGap& gap, const Pause& pause);

// Linear in the events and gaps. Cutting again changes nothing.
// REQUIRES: pauses, gaps and events in order of time.
void cut_stops(Trace& trace);

}  // namespace contrafact::model
