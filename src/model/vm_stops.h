// Which part of a thread's time off its core a stop of the virtual machine accounts for.
//
// The kernel says of a thread that a collector stops that it slept: until the stop was over, as well as until a core
// was free for it afterwards, which on a crowded machine takes longer than the stop. Here such a gap is cut at the
// stop's begin and end: before, the thread stands at its stopping point until the others reach theirs; after, it waits
// for a core. Both are waiting for cores, the thread's own or others'. A thread that slept already, or waited or
// blocked by its own events, is left as it is.
#pragma once

#include "model/trace.h"

namespace contrafact::model {

// Whether the gap, as cut here, is the pause's doing.
bool is_stop(const CpuGap& gap, const Pause& pause);

// Linear in the events and gaps. Cutting again changes nothing.
// REQUIRES: pauses, gaps and events in order of time.
void cut_stops(Trace& trace);

}  // namespace contrafact::model
