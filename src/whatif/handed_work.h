// Work that requests hand to threads of the program's own, and wait for: by a queue from which these threads take it, say. No task says
// so; what the recording has is that the request's thread waits, for a wake or for a result, and that such a thread wakes it or says what
// the result is.
//
// The work began where that thread was woken itself, or had woken the request before. Threads with like names that run the same function
// are one group, as workers of a pool are; so are those of the group that never had to work.
//
// A thread that requests seldom wake takes no work from them: it brings them news of the outside world (a timer, a client's selector). What
// they wait for is then as long as in the recording, whatever the load.
//
// Pure; O(n log n) in the events.
#pragma once

#include <cstdint>
#include <vector>

#include "model/facts.h"
#include "model/requests.h"

namespace contrafact::whatif {

// Events of the trace.
struct HandedWork {
  uint32_t wait_begin, wait_end;  // of the request's thread
  uint32_t cause;                 // of the other thread: what ends the wait
  uint32_t handed_before;         // of the request's thread: before this event the work is handed over
  model::Stretch work;            // of the thread that does it; does not exist: the wait is for the outside world
};

// By the request's wait. Of groups that did little of it nothing.
std::vector<HandedWork> handed_work(const model::Facts& facts, const model::Requests& requests);

}  // namespace contrafact::whatif
