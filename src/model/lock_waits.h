// Waits of a JVM's threads for objects that the recorder knows: locks, conditions, queues and the like. Of a lock that is
// not of a chosen class only the waits are recorded, and who held it meanwhile; neither acquisitions without a wait nor
// releases are.
//
// Pure; O(n log n) in the waits.
#pragma once

#include <cstdint>
#include <vector>

#include "model/trace.h"

namespace contrafact::model {

struct LockWait {
  LockId lock;
  ThreadId thread;
  ContextId site;    // where it asked
  EventIndex begin;  // block_begin
  EventIndex end;    // block_end of the last block, where it was woken in vain in between
  int64_t begin_ns = 0;
  int64_t end_ns = 0;
  ThreadId holder;      // when the wait began; none: not known
  ContextId holder_at;  // where the holder was while this thread waited; none: nobody looked
  // The holder has had it since then: the end of a wait of its own, after which nobody else is known to have had it.
  // INT64_MIN: since before this wait, nobody knows when.
  int64_t held_since_ns = INT64_MIN;
  int64_t wait_ns() const { return end_ns - begin_ns; }
};

// Sorted by lock, then by the end of the wait.
std::vector<LockWait> lock_waits(const Trace& trace);

}  // namespace contrafact::model
