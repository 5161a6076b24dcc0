// The conditions that the program sets for a task's result: that it comes within a time, that a failure is wrapped,
// that the first of several wins, that results are taken as they come. A change that drops these conditions makes
// another program.
//
// Pure; linear in the events.
#pragma once

#include <vector>

#include "model/trace.h"

namespace contrafact::analysis {

// Of one task; each context is where the program sets the condition; none where it does not.
struct ResultContract {
  model::ContextId timed_get;   // waited for with a time limit, by `get` or the like
  model::ContextId time_limit;  // orTimeout or completeOnTimeout
  model::ContextId failure;     // ended with an exception, and waited for here
  model::ContextId cancelled;   // spawned here, and cancelled
};

// By task; empty where no task has one.
std::vector<ResultContract> result_contracts(const model::Trace& trace);

// Handed out so that the first of several results wins (invokeAny).
bool is_any_of_several(const model::Trace& trace, model::ContextId spawn_context);
// Handed out and waited for by one call (invokeAll).
bool is_all_at_once(const model::Trace& trace, model::ContextId spawn_context);
// Handed to an ExecutorCompletionService: the thread that takes from it gets the results in the order in which they
// come.
bool is_taken_as_it_comes(const model::Trace& trace, model::ContextId spawn_context);
// Handed out by a function that ConcurrentHashMap calls under a lock: computeIfAbsent, compute, merge, ...
bool is_in_map_update(const model::Trace& trace, model::ContextId spawn_context);

}  // namespace contrafact::analysis
