// Threads that take pieces of work from a queue of the program's own, as their waits show. What they take is neither a
// Runnable nor a Callable, so no piece is a task in the recording, and no advice can move one. The reader of the advice
// must learn that: "no task can be inlined" would sound as if there were none.
//
// Of recordings of a JVM: a native one has threads, locks and conditions, and no tasks but its threads.
#pragma once

#include <string>
#include <vector>

#include "model/facts.h"

namespace contrafact::analysis {

struct QueueWorkers {
  model::ContextId wait;                 // where they wait for the next piece: one line
  std::vector<model::ThreadId> threads;  // none of them a pool's worker
  uint64_t waits = 0;
  double share = 0;  // of the time in which threads worked: theirs from the first such wait on, outside of tasks
};

// The largest share first; at least a tenth. Linear in the events.
std::vector<QueueWorkers> queue_workers(const model::Facts& facts);

// One sentence without its full stop, of the first; empty where there are none.
std::string queue_workers_text(const model::Facts& facts);

}  // namespace contrafact::analysis
