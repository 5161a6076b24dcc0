// What a Propagator does with coordinators (Placement::continuation): tasks whose parts run where what they wait for
// completes.
#include "graph/none.h"
#include "graph/propagate.h"

namespace contrafact::graph {

void Propagator::count_coordinator_waits() {
  expected_.assign(dag_.task_count(), 0);
  parked_list_.assign(dag_.task_count(), kNone);
  host_.assign(dag_.task_count(), kNone);
  for (size_t task = 0; task < placements_.size(); ++task) {
    if (placements_[task] != Placement::continuation) continue;
    const Body& body = dag_.bodies[task];
    for (uint32_t i = body.begin; i < body.end; ++i) {
      const Vertex& vertex = dag_.vertices[i];
      if (vertex.vertex_kind() == VertexKind::wait && !runs_at_wait(vertex.id)) ++expected_[vertex.id];
    }
  }
}

// A coordinator does not wait: what follows becomes a stage of the task that it asks for.
bool Propagator::step_coordinator_wait(Strand& strand, Frame& frame, const Vertex& vertex, int64_t ready_ns) {
  const uint32_t task = vertex.id;
  const int64_t cause_ns = completed_[task];
  // Which thread runs what follows depends on whether the result is there already. So find that out first, unless it
  // depends on this coordinator.
  if (cause_ns == kNever && !strand.released) return suspend(strand, Wait::completion, task, true);
  strand.released = false;
  const bool hosted = host_[task] != kNone;  // the completing thread stands still, and looks at what is parked
  const bool last = expected_[task] > 0 && --expected_[task] == 0 && hosted;
  if (cause_ns != kNever && cause_ns <= ready_ns) {
    advance_to(strand, frame, ready_ns, ready_ns);
    if (last) wake_all(host_[task]);
    return true;
  }
  Parked parked{frame, ready_ns, kNone};
  parked.frame.credit_ns = 0;
  parked.frame.asked = false;
  if (options_.steps)
    log(strand, Step::Kind::segment_end, parked.frame.at++, ready_ns, ready_ns);
  else
    ++parked.frame.at;
  set_use(strand, ready_ns, frame.outer);
  strand.now_ns = ready_ns;
  strand.frames.pop_back();
  if (cause_ns == kNever || hosted) {
    parked.next = parked_list_[task];
    parked_list_[task] = static_cast<uint32_t>(parked_.size());
    parked_.push_back(parked);
  } else {
    detach_parked(parked, cause_ns);
  }
  if (last) wake_all(host_[task]);
  return true;
}

// The parts that waited for `task` run on the thread that completed it.
bool Propagator::host_parked(Strand& strand, uint32_t task) {
  host_[task] = kNone;
  bool any = false;
  while (parked_list_[task] != kNone) {
    const Parked parked = parked_[parked_list_[task]];
    parked_list_[task] = parked.next;
    if (parked.ready_ns > completed_[task]) {
      detach_parked(parked, parked.ready_ns);
      continue;
    }
    Frame frame = parked.frame;
    frame.outer = strand.use;
    set_use(strand, strand.now_ns, Use::active);
    if (options_.steps) log(strand, Step::Kind::segment_begin, frame.at - 1, strand.now_ns, strand.now_ns);
    strand.frames.push_back(frame);
    any = true;
  }
  return any;
}

void Propagator::detach_parked(const Parked& parked, int64_t time_ns) {
  ++result_.detached;
  const auto thread = static_cast<uint32_t>(std::max(result_.steps.size(), dag_.roots.size()));
  if (options_.steps) result_.steps.emplace_back();
  const uint32_t index = new_strand(thread, time_ns);
  Strand& strand = strands_[index];
  Frame frame = parked.frame;
  frame.outer = Use::none;
  set_use(strand, time_ns, Use::active);
  if (options_.steps) log(strand, Step::Kind::segment_begin, frame.at - 1, time_ns, time_ns);
  strand.frames.push_back(frame);
  ready_.push_back(index);
}

}  // namespace contrafact::graph
