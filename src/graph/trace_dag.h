// The trace-DAG (Rehype, section 4.2): a trace whose times are relative, so that parts of it can move.
//
// Vertices are the synchronisation events only; the function events between two of them are left out, and restore.h
// puts them back. Vertices are stored by *body*: the vertices of one task (or of one thread, outside its tasks), in
// order. The thread edges are the order inside a body, and the order of the bodies that a thread calls. Moving a task
// (equations 1 and 2) is calling its body elsewhere: nothing is copied, so any number of variants share one DAG.
//
// A vertex with a cause (a time edge from another thread) is at
//
//     ready = previous vertex + delay_ns           the thread asks: wait_begin, worker_idle, block_begin
//     time  = cause > ready ? cause + label_ns     it slept until the cause, and woke label_ns after it
//                           : ready + post_ns      the cause was there already
//
// A wait for a lock (VertexKind::acquire) has as its cause the release that it ended with. It is
//
//     time  = cause > ready ? min(cause + post_ns, ready + label_ns)
//                           : ready
//
// so no longer than recorded: where its cause comes later, another thread would hold the lock first.
//
// Rehype gives time edges the label 0. Ours carry the recorded hand-over latency, so that an unchanged DAG has the
// recorded times exactly. Clocks of different cores may differ: label_ns may be negative, and order comes from the
// edges, never from times. A latency that the recording does not show (the thread did not sleep there, but does in a
// variant; or the other way round) is assumed: `assumed_*` points at the typical latency of its kind in `Latencies`.
//
// Immutable once built; safe to read from any number of threads.
// Invariants, checked by verify():
//  1. The bodies' vertex ranges are disjoint and cover all vertices; a body calls another at most once, and is called
//     at most once.
//  2. Every wait that has a cause names a task that completes; every call names a task with a body.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "base/column.h"
#include "base/result.h"
#include "model/facts.h"

namespace contrafact::graph {

using model::TaskId;
using model::ThreadId;

inline constexpr int64_t kNever = INT64_MIN;       // a time that has not been computed
inline constexpr int64_t kUnborn = INT64_MIN / 4;  // "before everything": a worker that its first task starts

enum class VertexKind : uint8_t {
  spawn,     // task `id` is handed out
  call,      // the body of task `id` runs here; cause: its spawn (and delay), or what it depends on
  complete,  // the result of task `id` is there
  wait,      // for task `id`; cause: its completion
  sleep,     // a wait without a known cause, of fixed length label_ns
  wake,      // link `id`: also the release of a lock
  block,     // until link `id`
  acquire,   // a lock that was waited for: link `id` is its release by who held it last; label_ns: the recorded wait
  leave,     // a plain thread blocks between its dealings with tasks, and is not counted ...
  enter,     // ... until here
};

struct Vertex {
  int64_t delay_ns;  // thread edge
  int64_t label_ns;  // time edge
  int32_t post_ns;   // see above
  uint32_t kind : 4;
  uint32_t assumed_label : 1;
  uint32_t assumed_post : 1;
  uint32_t id : 26;

  VertexKind vertex_kind() const { return static_cast<VertexKind>(kind); }
};
static_assert(sizeof(Vertex) == 24);
inline constexpr size_t kTasksMax = size_t{1} << 26;

// How a thread is counted while it runs a body itself, outside the bodies that it calls.
enum class BodyState : uint8_t { active, unoccupied, plain /* active from active_begin to active_end */ };

struct Body {
  uint32_t begin = 0, end = 0;                // vertices
  int64_t end_delay_ns = 0;                   // thread edge from the last vertex to the body's end
  uint32_t active_begin = 0, active_end = 0;  // BodyState::plain: first and one past the last dealing with tasks
  BodyState state = BodyState::active;
  bool called = false;  // exists, i.e. the task ran
};

struct Root {
  int64_t begin_ns = 0;       // recorded, or kUnborn
  bool pins_the_end = false;  // the run lasts at least until this thread has ended
  bool counted = false;       // not a bystander
};

// Typical latencies by kind, for vertices that have none of their own.
struct Latencies {
  int64_t wait_label_ns = 0, wait_post_ns = 0;
  int64_t block_label_ns = 0, block_post_ns = 0;
  std::vector<int64_t> call_label_ns, call_post_ns;  // by pool; the last one for tasks of no pool
};

// The facts about a task that propagation needs, in one byte.
enum TaskFlag : uint8_t {
  kHasSpawn = 1,
  kHasComplete = 2,  // a completion of its own; otherwise it completes at its end
  kHasBody = 4,
  kIsThread = 8,
  kHasDependencies = 16,
  kHasPool = 32,
  kHasDelay = 64,
};

struct TraceDag {
  const model::Trace* trace = nullptr;
  base::Column<Vertex> vertices;
  base::Column<uint32_t> vertex_event;     // its event's position in the trace
  std::vector<Body> bodies;                // of tasks, then of threads
  std::vector<Root> roots;                 // by thread
  std::vector<model::ThreadUse> uses;      // by thread
  std::vector<uint8_t> task_flags;         // of TaskFlag
  std::vector<int64_t> spawn_cost_ns;      // by task: its spawner's cost of handing it out, gone if it is inlined,
  std::vector<int64_t> answer_cost_ns;     // and the cost, before its end, of waking the threads that waited for it
  std::vector<model::Asker> askers;        // by task: which thread waits for it
  std::vector<uint32_t> dependency_begin;  // by task, one more: range in trace->dependencies
  uint32_t link_count = 0;
  Latencies typical, low, high;  // median, 5th and 95th percentile
  int64_t probe_cost_ns = 0;     // cost of recording one event, from the fact "probe.cost_ns"

  size_t task_count() const { return trace->tasks.size(); }
  const Body& body_of(TaskId task) const { return bodies[task.index()]; }
  const Body& body_of(ThreadId thread) const { return bodies[task_count() + thread.index()]; }
};

// The trace of `facts` must outlive the DAG. Linear in the events.
base::Result<TraceDag> build_dag(const model::Facts& facts);

base::Status verify(const TraceDag& dag);

}  // namespace contrafact::graph
