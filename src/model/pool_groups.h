// Pools of one thread each that are one pool to their program: Reactor's schedulers and RxJava's make an executor of
// one thread for each of their threads, and hand each task to the one that has least to do. Such an executor cannot get
// a second thread; the source says how many such executors there are. Reactor's elastic schedulers make them as needed, up to a
// limit, which each of their executors has for its largest size: that is the group's size, however few were needed.
//
// Pools are of one group if they have one thread each, equal names and kinds, threads that are named alike but for a
// number ("asking-1", "asking-2"), and share the work: a task hardly ever waited for its pool while another pool of the
// group was idle.
//
// Pure but for its argument. Linear in tasks and events, where there may be a group; else in pools.
#pragma once

#include "model/trace.h"

namespace contrafact::model {

// Gives the first pool of each group the tasks, the workers and the size of all, and the threads' name behind its own.
// The rows of the others stay, without tasks and workers. Saved and loaded again, the trace stays as it is. REQUIRES:
// `parts` keeps a Trace's invariants.
void join_pools_of_one_thread(Trace& parts);

}  // namespace contrafact::model
