// Locks of a JVM's program whose acquisitions are not recorded: a recording only shows where threads waited for one.
//
// While a thread waits for a lock, another thread holds it. The work of the holder takes as long in a changed run: more
// workers, or tasks that run elsewhere, do not shorten it (Amdahl's law for that lock). So no change of tasks or pools
// makes the run shorter than the time during which threads waited for one lock.
//
// Pure.
#pragma once

#include <vector>

#include "model/facts.h"

namespace contrafact::analysis {

// A lock that threads waited for; where the recording does not say which one, a line of the program at which they waited.
// Then all of them are taken to wait for the same one.
struct ContendedPlace {
  model::ContextId context;    // of the longest wait
  model::LockId lock;          // none: not known
  model::ContextId holder_at;  // where a holder was during the longest wait of which that is known; none: of no wait
  int64_t contended_ns = 0;    // time of the run in which at least one thread waited here
  double share = 0;            // the same, as a share of the run
  // The method of a wait also waits for a result, a queue or another thread. Then the lock may be held meanwhile, and a change
  // that shortens that wait shortens what the lock is held for.
  bool holder_may_wait = false;
};

// The longest first. Empty where the recorded locks ordered the run (Facts::locks_ordered): these say more. O(n log n)
// in the waits for locks, linear in the events.
std::vector<ContendedPlace> contended_places(const model::Facts& facts);

}  // namespace contrafact::analysis
