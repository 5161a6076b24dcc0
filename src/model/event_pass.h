// The one pass over all events on the way to a Trace. A part of finish.h. Not thread-safe; linear in the events.
//
// Thread by thread, while an event's columns are in the cache: gives tasks their rows' numbers, checks ids, raises
// times that decrease, has brackets repaired (repair.h), and fills the tasks' rows. A second walk follows only where
// the repair moved events.
#pragma once

#include "model/finish.h"
#include "model/time_window.h"
#include "model/trace.h"

namespace contrafact::model {

// True if events were moved, so that `verify` has to check the invariants. Otherwise this pass has checked them.
// REQUIRES: what finish() requires.
bool pass_over_events(Trace& parts, const FileParts* file, const TimeWindow& window);

}  // namespace contrafact::model
