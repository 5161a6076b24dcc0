// When threads slept for the results of tasks, and which pools have to run something before they wake: the facts from
// which an analysis decides whether a pool's workers wait for tasks in the pool's own queue.
//
// Pure functions; linear in the events, with memory for the sleeps only where pools wait for each other.
#pragma once

#include <optional>
#include <vector>

#include "model/thread_state.h"
#include "model/trace.h"

namespace contrafact::analysis {

// A thread asleep for a result, without the tasks that it ran meanwhile to help.
struct ResultSleep {
  int64_t begin_ns = 0, end_ns = 0;
  model::TaskId task;    // waited for; none: whichever of several comes first
  model::TaskId waiter;  // the innermost task that waits; none: a thread outside tasks
  model::ThreadId thread;
  model::ContextId context;
  model::Outcome outcome = model::Outcome::normal;
  bool keeps_worker = true;  // false: the pool gets another worker for the time (a fork-join pool compensates)
  bool open = false;         // the recording ended first
};

// The tasks that have to run before `task` completes: itself; or the tasks that it depends on, if it is a future
// without a body or not handed out yet. At most `tasks_max` of them.
std::vector<model::TaskId> runnable_sources(const model::Trace& trace, model::TaskId task, size_t tasks_max);

// The dependencies of `task`: a part of trace.dependencies.
std::span<const model::Dependency> dependencies_of(const model::Trace& trace, model::TaskId task);

// When the result was there; none: never.
std::optional<int64_t> completed_ns(const model::Trace& trace, model::TaskId task);

// By pool. Threads of no pool count as one pool more, the last.
struct PoolCircles {
  // Pools that wait for each other in a circle, or for themselves: a worker of each slept for a task of the next.
  std::vector<bool> in_circle;
  // Pools of which a worker slept for a known task while the pool got no other worker (ResultSleep::keeps_worker).
  std::vector<bool> held;
};
PoolCircles pools_in_circles(const model::Trace& trace, const std::vector<model::ThreadUse>& uses);

// Every thread's sleeps, by thread, in order.
std::vector<std::vector<ResultSleep>> result_sleeps(const model::Trace& trace,
                                                    const std::vector<model::ThreadUse>& uses);

}  // namespace contrafact::analysis
