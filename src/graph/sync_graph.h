// The trace-DAG of a native run. Its vertices are the events by which threads wait for each other. Thread edges chain a
// thread's events. Time edges go from the cause that ended a wait to the end of the wait. The order of critical
// sections is not part of the graph. It is an argument (section_order.h), so that one graph serves any order.
//
// A vertex is at
//     ready = previous vertex of the thread + delay_ns
//     time  = cause > ready ? cause + way_ns, if it slept in the recording, else cause
//                           : ready + way_ns, if it did not sleep, else ready
// where `cause` is the latest of its causes (a release, a signal, the others' arrival at a barrier, the end of a
// thread), and way_ns the time from there until the thread went on. A wait whose cause is not known keeps its length.
//
// Immutable once built, safe to read from any number of threads; the trace must outlive it. Cost: linear in the events
// but for one sort by time; a propagation and the critical path are linear in vertices and edges.
// Invariant: every edge goes from an earlier vertex to a later one in `vertices`, which are in recorded order.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "graph/section_order.h"
#include "model/facts.h"

namespace contrafact::graph {

inline constexpr uint32_t kNoVertex = UINT32_MAX;

struct SyncVertex {
  uint32_t event;
  uint32_t previous = kNoVertex;  // of the thread
  uint32_t section = UINT32_MAX;  // that it acquires
  int64_t delay_ns = 0;           // thread edge
  int64_t way_ns = 0;             // see above
  bool slept = false;
};

struct SyncGraph {
  const model::Trace* trace = nullptr;
  std::vector<SyncVertex> vertices;
  std::vector<uint32_t> cause_begin, causes;  // by vertex: the causes that are no releases of locks
  std::vector<uint32_t> release_vertex;       // by section; kNoVertex: it is not released
  std::vector<uint32_t> last_vertex;          // of each thread; kNoVertex: it has no events
  std::vector<bool> counts;                   // by thread: the run is not over before it has ended
  int64_t begin_ns = 0;
  int64_t end_ns = 0;  // of the threads that count

  int64_t duration_ns() const { return end_ns - begin_ns; }
};

// `recorded` is recorded_order of the sections. The result does not refer to `facts`, but to its trace.
SyncGraph build_sync_graph(const model::Facts& facts, const SectionOrder& recorded);

// How long the run takes if sections keep only this order: the recorded one, or a part of it. With the recorded order
// it is the recorded duration exactly, as far as clocks of different cores agree.
int64_t propagate(const SyncGraph& graph, const SectionOrder& order);

// The same, with how long each section then waits for its lock: zero for what is no section. By section.
struct SectionWaits {
  int64_t duration_ns = 0;
  std::vector<int64_t> wait_ns;
};
SectionWaits propagate_waits(const SyncGraph& graph, const SectionOrder& order);

// A part of the critical path, the chain that the run's end waited for. Each part ends where the next one begins. A
// stretch of one thread is one part.
struct PathPart {
  model::ThreadId thread;
  int64_t begin_ns;
  int64_t end_ns;
  uint32_t handed = UINT32_MAX;  // the section that was waited for: from the release to the acquisition, on no thread
  bool woken = false;            // the part goes from another cause to the end of the wait, on no thread
};

// The chain of thread edges and of causes of waits that ends last: the critical path, in order. `recorded` as above. If
// several threads end last at the same time, the path ends with the first of them. Of several causes at the same time,
// it takes the one that is first among the vertices: the events of one instant are in the order of threads, but causes
// come before the ends of the waits.
std::vector<PathPart> critical_path(const SyncGraph& graph, const SectionOrder& recorded);

}  // namespace contrafact::graph
