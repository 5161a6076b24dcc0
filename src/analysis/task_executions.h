// Task executions: which recorded tasks count as tasks, and how long each was on a core, as "Analyzing Task Granularity on
// the JVM" (Rosà, Rosales, Binder; TOPLAS 2019) defines it in its section 3.
//
//  - An execution is what lies between a task's start and its end, on one thread (3.2). A call of the task's own methods
//    inside of that, directly or through another task, begins nothing new: the outermost counts (3.5). Several executions
//    of one object are tasks of their own, and have numbers of their own in a trace (3.6).
//  - The granularity of a task is the time in which its thread was on a core within it. Time of tasks nested in it is
//    theirs, and so is time in which the virtual machine had stopped the threads nobody's (4.5, 5.1).
//  - Aggregation (3.4): a nested task that cannot run beside its outer task vanishes into it, and its time becomes the
//    outer one's; recursively. The paper aggregates a nested task if
//      (1) its outer task is no thread, or
//      (2) its outer task is a thread, and it was not submitted, and the thread that runs it also made it.
//  - Tasks that were never executed to their end do not count.
//
// Where this differs from the paper. Its first condition takes every task in which a worker of a fork-join pool helps
// while it waits for another one (ForkJoinTask.join, invokeAll, CompletableFuture.get) for a part of the waiting task. Of a
// parallel sort nearly all tasks would vanish. But such a task was handed out, any other worker could have taken it, and
// how large it is matters. So where the outer task is no thread, a nested task is aggregated
//      (1a) if it was not handed out: adapters, helpers, FutureTask around Callable, ForkJoinTask.invoke; or
//      (1b) if the thread that handed it out runs it, and does not do so in a wait for a task's result: an executor that
//           runs tasks in its caller, and CallerRunsPolicy.
// All others, the helped ones, count. A nested one's time leaves the outer task, as that of every nested task does.
//
// A thread without a task of its own, such as main, is a thread for condition (2): what is aggregated to it is no task's.
#pragma once

#include <cstdint>
#include <vector>

#include "model/trace.h"

namespace contrafact::analysis {

enum class ExecutionState : uint8_t {
  never,       // not started
  unfinished,  // its start or its end is not in the recording
  aggregated,  // part of the task `owner`, or of a thread that is no task
  counted,
};

struct TaskExecutions {
  // All by task.
  std::vector<ExecutionState> state;
  std::vector<model::TaskId> outer;  // the innermost task in whose execution it ran; none: directly on a thread
  std::vector<model::TaskId>
      owner;                     // whose time its time is: its own, that of the task that it is aggregated to, or none
  std::vector<int64_t> core_ns;  // of counted and unfinished tasks, with what is aggregated to them
  uint64_t never = 0, unfinished = 0, aggregated = 0;
  uint64_t nested = 0;  // counted ones that ran within another task that is no thread
  // The kernel reported when threads left their cores. Where it did not, and for virtual threads, core_ns is the time
  // in which the events show neither a wait nor a block.
  bool core_known = false;
  bool has_virtual = false;  // tasks on virtual threads count, for which the kernel reports nothing
};

// `aggregate` false: nested tasks all count (owner is the task itself). O(events + switches), with a logarithm of the
// pauses; 17 bytes for each task.
TaskExecutions task_executions(const model::Trace& trace, bool aggregate = true);

}  // namespace contrafact::analysis
