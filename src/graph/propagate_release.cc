// What a Propagator does when no thread can go on: one of them does what the recorded order forbids.
#include "graph/none.h"
#include "graph/propagate.h"

namespace contrafact::graph {

// Nothing can go on: lets one thread do what the recorded order forbids. False if nothing helps.
bool Propagator::release_one() {
  // A task that is there seldom stands far behind; looking through whole queues each time would be quadratic.
  if (release_soft() || run_early(64) || release_lock()) return true;
  // A thread that helps while it waits stands before a task that is not spawned yet: it is there only because it found
  // the task in the recording. The earliest goes on, and that task runs on a thread of its own.
  uint32_t helper = kNone;
  for (uint32_t i = 0; i < strand_count_; ++i) {
    const Strand& strand = strands_[i];
    if (strand.wait != Wait::spawn || strand.frames.empty() || !inside_task(strand.frames.back())) continue;
    if (helper == kNone || strand.now_ns < strands_[helper].now_ns) helper = i;
  }
  result_.visits += strand_count_ / 16;
  if (helper == kNone) return run_early(4096) || run_early(kNone) || run_elsewhere();
  unlink(helper);
  strands_[helper].released = true;
  strands_[helper].soft = false;
  ready_.push_back(helper);
  return true;
}

bool Propagator::release_soft() {
  return release_earliest(soft_);
}

// A thread that waits for a lock goes on without it: the section before its own can only come later.
bool Propagator::release_lock() {
  return release_earliest(at_locks_);
}

bool Propagator::release_earliest(EarliestFirst& strands) {
  // Those that were woken meanwhile are still among them.
  uint32_t best = kNone;
  while (!strands.empty() && best == kNone) {
    const auto [now_ns, index] = strands.top();
    strands.pop();
    const Strand& strand = strands_[index];
    if (strand.wait != Wait::nothing && strand.soft && strand.now_ns == now_ns) best = index;
  }
  if (best == kNone) return false;
  unlink(best);
  strands_[best].released = true;
  strands_[best].soft = false;
  ready_.push_back(best);
  return true;
}

// A worker that stands before a task that is not spawned yet takes the earliest one behind it that is, among the next
// `window` vertices.
bool Propagator::run_early(uint32_t window) {
  uint32_t best = kNone, best_vertex = kNone;
  int64_t best_ns = INT64_MAX;
  uint64_t looked_at = strand_count_;
  for (uint32_t i = 0; i < strand_count_; ++i) {
    const Strand& strand = strands_[i];
    if (strand.wait != Wait::spawn || strand.frames.empty()) continue;
    const Frame& frame = strand.frames.back();
    const uint32_t end = frame.end - frame.at > window ? frame.at + window : frame.end;
    for (uint32_t at = frame.at + 1; at < end; ++at) {
      ++looked_at;
      const Vertex& vertex = dag_.vertices[at];
      if (vertex.vertex_kind() != VertexKind::call || !has(vertex.id, kHasSpawn)) continue;
      if (available_[vertex.id] == kNever || ran_[vertex.id]) continue;
      if (!placements_.empty() && placements_[vertex.id] != Placement::own_thread) continue;
      if (available_[vertex.id] < best_ns) {
        best_ns = available_[vertex.id];
        best = i;
        best_vertex = at;
      }
      break;  // the first one that is there: the queue's order
    }
  }
  result_.visits += looked_at / 16;
  if (best == kNone) return false;
  const Vertex& vertex = dag_.vertices[best_vertex];
  unlink(best);
  ++result_.reordered;
  Strand& strand = strands_[best];
  const int64_t ready_ns = strand.now_ns;
  const int64_t time_ns = call_time(vertex, ready_ns, best_ns);
  if (options_.steps) log(strand, Step::Kind::vertex, best_vertex, ready_ns, time_ns);
  enter_body(strand, vertex.id, time_ns);
  ready_.push_back(best);
  return true;
}

// A task that some thread waits for is queued behind a worker that cannot go on (it may be the very thread that waits):
// another worker of the pool takes the task.
bool Propagator::run_elsewhere() {
  uint32_t best = kNone;
  auto consider = [&](uint32_t task) {
    const bool stays = placements_.empty() || placements_[task] == Placement::own_thread;
    const bool can_run =
        stays && !ran_[task] && has(task, kHasBody) && has(task, kHasSpawn) && available_[task] != kNever;
    if (can_run && (best == kNone || available_[task] < available_[best])) best = task;
  };
  for (uint32_t i = 0; i < strand_count_; ++i) {
    if (strands_[i].wait == Wait::completion) consider(strands_[i].wait_id);
  }
  if (any_continuation_) {
    for (uint32_t task = 0; task < parked_list_.size(); ++task) {
      if (parked_list_[task] != kNone) consider(task);
    }
  }
  if (best == kNone) return false;
  if (call_vertex_.empty()) {
    call_vertex_.assign(dag_.task_count(), kNone);
    for (uint32_t i = 0; i < dag_.vertices.size(); ++i) {
      if (dag_.vertices[i].vertex_kind() == VertexKind::call) call_vertex_[dag_.vertices[i].id] = i;
    }
  }
  ++result_.reordered;
  ran_[best] = 1;
  detach(call_vertex_[best]);
  return true;
}

}  // namespace contrafact::graph
