// finish: from columns grouped by thread to a Trace that keeps its invariants. TraceBuilder and load share it.
// Pure but for its argument; linear in the events (one pass, a second only if events have to be added or removed).
//
// What it repairs, and notes in Trace::loss:
//  - times that decrease within a thread are raised to the one before;
//  - an end without a start: the task was running when the recording began, so a start is put where the thread's last
//    complete task ended (or at the thread's beginning);
//  - brackets that are open when an outer one closes, or when the thread ends, are closed there; a thread without
//    thread_end lived until the end of the trace;
//  - other closings without an opening, second starts of a task, and events that name no task are dropped;
//  - ids that no table row has become none.
#pragma once

#include "base/result.h"
#include "model/trace.h"

namespace contrafact::model {

// REQUIRES: event columns of equal size, grouped by `thread_ranges` in the order of `threads`; `tasks` has a row for
// every task id, with pool, body, delay_us and (from third and fourth operands) nothing else; pauses and cpu in any
// order.
base::Result<Trace> finish(Trace parts);

// Sets spawn's, create's and depends' operands that live outside the columns. Inline: the loader calls it per task
// event.
inline void set_outer_operands(Trace& parts, EventKind kind, uint32_t task, const uint32_t* operands) {
  TaskRow& row = parts.tasks[task];
  switch (kind) {
    case EventKind::task_spawn:
      row.pool = PoolId(operands[2]);
      if (operands[3] != UINT32_MAX) row.body = MethodId(operands[3]);
      break;
    case EventKind::task_create:
      if (!row.body.valid()) row.body = MethodId(operands[2]);
      break;
    case EventKind::task_delay:
      row.delay_us = operands[1];
      break;
    case EventKind::task_depends:
      parts.dependencies.push_back({TaskId(task), TaskId(operands[1]), static_cast<format::DependsMode>(operands[2])});
      break;
    default:
      break;
  }
}

// True for the events whose first operand is a task.
constexpr bool names_task(EventKind kind) {
  return kind >= EventKind::task_create && kind <= EventKind::wait_end;
}

}  // namespace contrafact::model
