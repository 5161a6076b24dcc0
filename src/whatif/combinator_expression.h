// The CompletableFuture expression that does what a coordinator task does, from its recorded schedule.
//
// Sub-tasks that are all spawned before the coordinator first waits are combined (thenCombine for two, allOf for more);
// a sub-task that it spawns after a wait needs that wait's result, so it is composed after it (thenCompose).
#pragma once

#include <string>

#include "graph/trace_dag.h"

namespace contrafact::whatif {

// Empty if the task waits for nothing. Deterministic. Long lists of like sub-tasks are written as one with their
// number.
std::string combinator_expression(const graph::TraceDag& dag, model::TaskId coordinator);

}  // namespace contrafact::whatif
