// finish: from columns grouped by thread to a Trace that keeps its invariants. TraceBuilder and load share it.
// Pure but for its argument; linear in the events (one pass, and more only if events have to be moved to add or remove
// others).
//
// What it repairs, and notes in Trace::loss:
//  - times that decrease within a thread are raised to the one before;
//  - an end without a start: the task was running when the recording began, so a start is put where the thread's last
//    complete task ended (or at the thread's beginning);
//  - brackets that are open when an outer one closes, or when the thread ends, are closed there; a thread without
//    thread_end lived until the end of the trace;
//  - other closings without an opening, second starts of a task, and events that name no task are dropped;
//  - ids without a row in their table become none.
#pragma once

#include <array>
#include <vector>

#include "base/column.h"
#include "base/result.h"
#include "model/id_rows.h"
#include "model/trace.h"

namespace contrafact::model {

// A worker_busy event that closes nothing, since it is a new worker's first: the loader leaves it out of the columns.
// The checks of times and ids still include it.
struct LeftOut {
  uint32_t position = UINT32_MAX;  // of the event that follows it; beyond all events if there is no such event
  PoolId pool;
  int64_t time_ns = 0;
};

// At most so many rows of threads, and of locks, stand for rows lost to damage. A file that names more is not believed.
inline constexpr size_t kRowsLostMax = 1 << 14;

// The rows that the ids of events and of other rows name.
struct TableRows {
  IdRows strings, methods, contexts, pools, threads, locks, access_sets, connections, endpoints;
};

// The parts of a file beyond the columns.
struct FileParts {
  TableRows rows;
  base::Column<uint32_t> row_of;       // by the file's task id; empty if these are the rows' already
  base::Column<uint32_t> extras;       // third and fourth operands, thread by thread, and two more values
  std::vector<uint32_t> extras_begin;  // by thread
  std::vector<LeftOut> left_out;       // by thread
};

// REQUIRES: event columns of equal size, grouped by `thread_ranges` in the order of `threads`. There may be room behind
// a thread's events, best exactly as much as the closings that its brackets lack. `tasks` has a row for every task id.
// Without `file`, the rows hold pool, body and delay_us, and the dependencies are there, too. Pauses and cpu may be in
// any order.
base::Result<Trace> finish(Trace parts, const FileParts* file = nullptr);

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

// A holder_at concerns the blocked_on just before it, of the same thread.
inline void note_holder_at(std::vector<BlockedOn>& blocks, ThreadId thread, ContextId context) {
  if (!blocks.empty() && blocks.back().thread == thread) blocks.back().holder_at = context;
}

// The part of a task's row that `finish` takes; it finds the rest in the events.
inline TaskRow bare_row(const TaskRow& row) {
  TaskRow bare;
  bare.pool = row.pool;
  bare.body = row.body;
  bare.delay_us = row.delay_us;
  return bare;
}

// Operands beyond the two that are columns.
constexpr uint32_t extra_operands(EventKind kind) {
  constexpr auto kCounts = [] {
    std::array<uint8_t, format::kEventKinds> counts{};
    for (size_t k = 0; k < counts.size(); ++k) {
      const size_t operands = format::kEventSchemas[k].operand_count();
      counts[k] = static_cast<uint8_t>(operands > 2 ? operands - 2 : 0);
    }
    return counts;
  }();
  return kCounts[static_cast<size_t>(kind)];
}

// True for the events whose first operand is a task.
constexpr bool names_task(EventKind kind) {
  return kind >= EventKind::task_create && kind <= EventKind::wait_end;
}

}  // namespace contrafact::model
