// Where tasks communicate by other means than their results, against the model that the estimates rest on (Rehype,
// section 2): a task that blocks until another task feeds its queue, releases its lock or counts its latch down may
// behave otherwise, or never end, when it runs inline. Waits for futures are the model, and no violation.
//
// Pure function; linear in the events.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "analysis/result_contracts.h"
#include "model/facts.h"

namespace contrafact::analysis {

enum class ViolationKind : uint8_t {
  fed_by_task,     // blocked until another task woke it: a queue, latch, condition
  fed_by_thread,   // blocked until a thread outside any task woke it
  lock_contended,  // blocked for a lock that another thread held, a synchronized region's or one of
                   // java.util.concurrent; and the trace does not say which one
  parked,          // blocked in park or Object.wait, and the trace does not say which thread woke it
  sleeps,          // Thread.sleep: inlined, the caller sleeps
  io,              // recorded input or output: inlined, the caller blocks for it
  timed_get,       // waited for by a `get` with a time-out: called in place, it has no time-out
  time_limit,      // under orTimeout or completeOnTimeout: the same
  failure,         // its exception reaches the waiter wrapped: called in place, unwrapped
  cancelled,       // called in place, it cannot be cancelled
  in_map_update,   // handed out by a function that a ConcurrentHashMap calls under its lock
};

struct Violation {
  ViolationKind kind = ViolationKind::fed_by_task;
  model::ContextId context;      // where the task blocks
  model::ContextId waker_spawn;  // where the task that woke it was spawned; none without one
  model::MethodId waker_body;    // what that task runs
  bool waker_in_set = false;     // the waker is itself one of the tasks asked about
  bool serious = false;          // may deadlock or change the result when inlined; otherwise only timing differs
  uint64_t count = 0;            // blocks
  uint64_t tasks = 0;            // distinct tasks with such a block
  int64_t blocked_ns = 0;
  model::TaskId example;  // the task with the longest such block
  std::string message;    // one line for a person, with file and line
};

// The trace's blocks, each with the wake that ended it; built once, used for every candidate. Holds a reference to the
// trace.
class BlockIndex {
 public:
  struct Block {
    model::TaskId task;  // blocked inside it
    model::EventIndex begin;
    int64_t duration_ns;
    model::TaskId waker;           // task inside which the wake happened; none if not known or outside any task
    model::ThreadId waker_thread;  // none if no wake is known
    model::LockId lock;            // that it is for, where the trace says that; only of a kind that threads hold
  };
  explicit BlockIndex(const model::Facts& facts);
  std::span<const Block> blocks_of(model::TaskId task) const;
  const model::Trace& trace() const { return trace_; }
  std::span<const ResultContract> contracts() const { return contracts_; }

 private:
  const model::Trace& trace_;
  std::vector<Block> blocks_;  // sorted by task
  std::vector<ResultContract> contracts_;
};

// The blocks of the tasks for locks that the trace names, which are no violations: what limits such a lock is known
// (contended_places.h). REQUIRES: `tasks` sorted.
int64_t named_lock_waits_ns(const BlockIndex& index, std::span<const model::TaskId> tasks);

// Grouped by kind, context and waker; serious ones first, then by blocked time. REQUIRES: `tasks` sorted.
std::vector<Violation> model_violations(const BlockIndex& index, std::span<const model::TaskId> tasks);

}  // namespace contrafact::analysis
