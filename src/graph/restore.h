// From the trace-DAG back to a trace: every event at its new time, on the thread that now runs it.
// Pure; linear in the events.
//
// Events between two vertices keep their distance to the vertex before them, or, after a sleep, to the one behind.
// Three things change with the program: the spawn of a task that runs at its spawn is dropped; so are the waits of a
// coordinator; and each part of a coordinator after the first is a stage (a new task) that depends on the task waited
// for. A worker's last sleep ends as long before the run's end as in the recording. Times of the kernel and of pauses
// say nothing about a variant, and are dropped, too.
#pragma once

#include <span>

#include "base/result.h"
#include "graph/propagate.h"

namespace contrafact::graph {

// REQUIRES: `propagated` is the result of run(placements) on `dag` with options.steps, and nothing is stuck.
// `epilogue_ns`: how long the recorded run lasted after Propagated::end_ns of the unchanged DAG.
base::Result<model::Trace> restore(const TraceDag& dag, std::span<const Placement> placements,
                                   const Propagated& propagated, int64_t epilogue_ns);

}  // namespace contrafact::graph
