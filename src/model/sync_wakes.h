// Which thread woke which at conditions, barriers, semaphores, onces and futexes. (Joins need nothing: the task that is
// waited for completes.)
//
// The recording says which thread signalled and which went on, but not which of several waiters a signal reached. That
// is inferred from the times; it is certain where one thread waits. Pure function; linear but for sorts, and for
// conditions and semaphores with the number of threads that wait there at a time.
#pragma once

#include <span>
#include <vector>

#include "model/critical_sections.h"

namespace contrafact::model {

struct SyncWake {
  uint32_t wait = 0;  // index of the woken one among the sections
  EventIndex cause;   // sync_signal or sync_broadcast; at a barrier the last thread's sync_wait
};

// `sections` are critical_sections(trace). Sorted by wait. A wait that ended otherwise (spuriously, by its timeout) or
// whose cause was not recorded is left out, and so is a barrier's last thread, which does not wait.
std::vector<SyncWake> sync_wakes(const Trace& trace, std::span<const CriticalSection> sections);

}  // namespace contrafact::model
