// Distinguishes locks that lived one after another at one address. A recorder numbers locks by address; where the
// program initialised or destroyed one (lock_init, lock_destroy), the lock after that is another one, of the same name.
//
// Pure but for its argument. Cost: a look at each event's kind; where there are such events, two more passes.
#pragma once

#include "model/trace.h"

namespace contrafact::model {

// Gives each life of a lock that was used more than once a row of its own; the first keeps the number. A wait or hold
// belongs to the life in which it began: a condition may be destroyed while the threads that it has woken leave. Saved
// and loaded again, the trace stays as it is. REQUIRES: `parts` keeps a Trace's invariants, and is as it was recorded.
void tell_lives_apart(Trace& parts);

}  // namespace contrafact::model
