// The expression that does a coordinator task's work without waiting, from its recorded schedule: an expression of
// CompletableFutures, or for a RecursiveTask and its like the statements of a CountedCompleter. It compiles as it is
// where `executor` is the executor; comments name the program's lines that belong there.
//
// Sub-tasks that are all spawned before the coordinator first waits are combined (thenCombine for two, allOf for more);
// a sub-task that it spawns after a wait needs that wait's result, so it is composed after it (thenCompose).
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>

#include "graph/trace_dag.h"

namespace contrafact::improve {

// Empty if the task waits for nothing. Deterministic. Long lists of like sub-tasks are written as one with their
// number.
std::string combinator_expression(const graph::TraceDag& dag, model::TaskId coordinator);

// The expressions of many tasks, each with the number of tasks that it stands for. Tasks that wait at the same places
// for tasks of the same places have one expression: a fork-join program has hundreds of thousands of such tasks.
std::map<std::string, uint64_t> combinator_expressions(const graph::TraceDag& dag,
                                                       std::span<const model::TaskId> coordinators);

}  // namespace contrafact::improve
