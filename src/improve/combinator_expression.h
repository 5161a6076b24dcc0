// The expression that does what a coordinator task does without waiting, from its recorded schedule: of
// CompletableFutures, or for a RecursiveTask and its like the statements of a CountedCompleter. It compiles as it is
// where `executor` is the executor; comments name the program's lines that belong into it.
//
// Sub-tasks that are all spawned before the coordinator first waits are combined (thenCombine for two, allOf for more);
// a sub-task that it spawns after a wait needs that wait's result, so it is composed after it (thenCompose).
#pragma once

#include <string>

#include "graph/trace_dag.h"

namespace contrafact::improve {

// Empty if the task waits for nothing. Deterministic. Long lists of like sub-tasks are written as one with their
// number.
std::string combinator_expression(const graph::TraceDag& dag, model::TaskId coordinator);

}  // namespace contrafact::improve
