#include "graph/propagate.h"

#include <algorithm>

#include "base/check.h"
#include "base/prefetch.h"
#include "base/saturating.h"
#include "graph/none.h"

namespace contrafact::graph {
namespace {

// A call in the midst of a body, without an idle period or a wait around it: the thread does not sleep there. A label
// is then the clocks' race between the cause and the call.
bool never_sleeps(const Vertex& call) {
  return call.post_ns == 0 && call.label_ns <= 0;
}

}  // namespace

Propagator::Propagator(const TraceDag& dag) : dag_(dag) {}

const Propagated& Propagator::run(std::span<const Placement> placements, const PropagateOptions& options) {
  reset(placements, options);
  start_roots();
  while (true) {
    while (!ready_.empty()) {
      current_ = ready_.back();
      ready_.pop_back();
      advance(current_);
    }
    result_.gave_up = result_.visits > options.visits_max;
    if (result_.gave_up) return result_;
    if (!release_one()) break;
  }
  report_stuck();
  return result_;
}

void Propagator::reset(std::span<const Placement> placements, const PropagateOptions& options) {
  const size_t tasks = dag_.task_count();
  CHECK(placements.empty() || placements.size() == tasks);
  placements_ = placements;
  options_ = options;
  latencies_ = options.latencies ? options.latencies : &dag_.typical;
  result_.end_ns = kNever;
  result_.active_ns = result_.waiting_ns = 0;
  result_.reordered = result_.detached = 0;
  result_.assumes = false;
  result_.visits = 0;
  result_.gave_up = false;
  result_.stuck.clear();
  result_.changes.clear();
  result_.steps.clear();
  if (options.steps) result_.steps.resize(dag_.roots.size());
  available_.assign(tasks, kNever);
  completed_.assign(tasks, kNever);
  linked_.assign(dag_.link_count, kNever);
  spawn_list_.assign(tasks, kNone);
  completion_list_.assign(tasks, kNone);
  link_list_.assign(dag_.link_count, kNone);
  ran_.assign(tasks, 0);
  strand_count_ = 0;
  parked_.clear();
  ready_.clear();
  soft_ = at_locks_ = {};
  any_continuation_ = std::find(placements.begin(), placements.end(), Placement::continuation) != placements.end();
  if (any_continuation_) count_coordinator_waits();
}

uint32_t Propagator::new_strand(uint32_t thread, int64_t now_ns) {
  if (strand_count_ == strands_.size()) strands_.emplace_back();
  Strand& strand = strands_[strand_count_];
  strand.frames.clear();
  strand.now_ns = strand.since_ns = now_ns;
  strand.use = Use::none;
  strand.thread = thread;
  strand.detached_vertex = kNone;
  strand.wait = Wait::nothing;
  strand.next = kNone;
  strand.soft = strand.released = strand.finished = false;
  return static_cast<uint32_t>(strand_count_++);
}

void Propagator::start_roots() {
  const auto tasks = static_cast<uint32_t>(dag_.task_count());
  for (uint32_t thread = 0; thread < dag_.roots.size(); ++thread) {
    if (!dag_.bodies[tasks + thread].called) continue;
    const uint32_t strand = new_strand(thread, dag_.roots[thread].begin_ns);
    enter_body(strands_[strand], tasks + thread, dag_.roots[thread].begin_ns);
    ready_.push_back(strand);
  }
  // The first threads of a trace start the others: they go first.
  std::reverse(ready_.begin(), ready_.end());
}

void Propagator::advance(uint32_t index) {
  Strand& strand = strands_[index];
  if (strand.detached_vertex != kNone && !begin_detached(strand)) return;
  while (!strand.frames.empty()) {
    Frame& frame = strand.frames.back();
    ++result_.visits;
    if (frame.at < frame.end) {
      if (!step(strand, frame, dag_.vertices[frame.at])) return;
    } else if (!end_body(strand)) {
      return;
    }
  }
  strand.finished = true;
  set_use(strand, strand.now_ns, Use::none);
  const bool of_thread = strand.thread < dag_.roots.size();
  if (of_thread && dag_.roots[strand.thread].pins_the_end) result_.end_ns = std::max(result_.end_ns, strand.now_ns);
}

bool Propagator::step(Strand& strand, Frame& frame, const Vertex& vertex) {
  switch (vertex.vertex_kind()) {
    case VertexKind::spawn:
      return step_spawn(strand, frame, vertex);
    case VertexKind::call:
      return step_call(strand, frame, vertex);
    case VertexKind::complete:
      return step_complete(strand, frame, vertex);
    case VertexKind::wait:
      return step_wait(strand, frame, vertex);
    case VertexKind::block:
      return step_block(strand, frame, vertex);
    case VertexKind::acquire:
      return step_acquire(strand, frame, vertex);
    case VertexKind::sleep: {
      const int64_t ready_ns = strand.now_ns + vertex.delay_ns - frame.credit_ns;
      sleep_until(strand, frame, ready_ns, ready_ns + vertex.label_ns);
      return true;
    }
    case VertexKind::wake: {
      const int64_t now_ns = strand.now_ns + vertex.delay_ns - frame.credit_ns;
      advance_to(strand, frame, now_ns, now_ns);
      linked_[vertex.id] = now_ns;
      wake_all(link_list_[vertex.id]);
      return true;
    }
    case VertexKind::leave:
    case VertexKind::enter: {
      const int64_t now_ns = strand.now_ns + vertex.delay_ns - frame.credit_ns;
      const Body& body = dag_.bodies[frame.body];
      const bool counted = body.active_begin < frame.at && frame.at < body.active_end;
      const Use use = vertex.vertex_kind() == VertexKind::leave ? Use::none : Use::active;
      advance_to(strand, frame, now_ns, now_ns);
      if (counted) set_use(strand, now_ns, use);
      return true;
    }
  }
  return true;
}

// A plain thread, a daemon, counts from its first dealing with tasks to its last.
void Propagator::use_plain_range(Strand& strand, const Frame& frame, int64_t ready_ns, int64_t time_ns) {
  const Body& body = dag_.bodies[frame.body];
  if (body.state != BodyState::plain) return;
  if (frame.at == body.active_begin) set_use(strand, ready_ns, Use::active);
  if (frame.at + 1 == body.active_end) set_use(strand, time_ns, Use::none);
}

// Done with the vertex at `frame.at`: the thread goes on at `time_ns`.
void Propagator::advance_to(Strand& strand, Frame& frame, int64_t ready_ns, int64_t time_ns) {
  if (options_.steps) log(strand, Step::Kind::vertex, frame.at, ready_ns, time_ns);
  use_plain_range(strand, frame, ready_ns, time_ns);
  strand.now_ns = time_ns;
  frame.credit_ns = 0;
  frame.asked = false;
  ++frame.at;
  if (frame.at < frame.end) look_ahead(dag_.vertices[frame.at]);
}

// Fetches the body of the task that is handed out next: it may run soon, and lies elsewhere.
void Propagator::look_ahead(const Vertex& next) const {
  if (next.vertex_kind() != VertexKind::spawn) return;
  const Body& body = dag_.bodies[next.id];
  base::prefetch(dag_.vertices.data() + body.begin, (body.end - body.begin) * sizeof(Vertex));
}

bool Propagator::step_spawn(Strand& strand, Frame& frame, const Vertex& vertex) {
  const uint32_t task = vertex.id;
  const int64_t now_ns = strand.now_ns + vertex.delay_ns - frame.credit_ns;
  advance_to(strand, frame, now_ns, now_ns);
  available_[task] = now_ns;
  if (has(task, kHasDelay)) available_[task] += int64_t{dag_.trace->tasks[task].delay_us} * 1000;
  wake_all(spawn_list_[task]);
  if (!placements_.empty() && placements_[task] != Placement::own_thread) {
    frame.credit_ns = dag_.spawn_cost_ns[task] + (runs_at_wait(task) || !called(task) ? 0 : dag_.answer_cost_ns[task]);
    if (!runs_at_wait(task)) enter_body(strand, task, now_ns);
  }
  return true;
}

// The latest completion among what `task` depends on. *missing: one that is not computed yet, or none.
int64_t Propagator::dependencies_ns(uint32_t task, uint32_t* missing) const {
  int64_t latest_ns = kNever;
  *missing = kNone;
  for (uint32_t i = dag_.dependency_begin[task]; i < dag_.dependency_begin[task + 1]; ++i) {
    const model::Dependency& dependency = dag_.trace->dependencies[i];
    if (dependency.mode != format::DependsMode::all) return kNever;
    const uint32_t source = dependency.source.value;
    if (completed_[source] != kNever)
      latest_ns = std::max(latest_ns, completed_[source]);
    else if (has(source, kHasBody) || has(source, kHasComplete))
      *missing = source;
  }
  return latest_ns;
}

int64_t Propagator::assumed_ns(int64_t Latencies::* kind) {
  result_.assumes |= dag_.low.*kind != dag_.high.*kind;
  return latencies_->*kind;
}

int64_t Propagator::call_time(const Vertex& vertex, int64_t ready_ns, int64_t cause_ns) {
  const bool slept = cause_ns != kNever && cause_ns > ready_ns;
  if (slept && !vertex.assumed_label) return cause_ns + vertex.label_ns;
  if (!slept && !vertex.assumed_post) return ready_ns + vertex.post_ns;
  const auto kind = slept ? &Latencies::call_label_ns : &Latencies::call_post_ns;
  const std::vector<int64_t>& assumed = latencies_->*kind;
  const size_t pool = has(vertex.id, kHasPool) ? dag_.trace->tasks[vertex.id].pool.index() : assumed.size() - 1;
  result_.assumes |= (dag_.low.*kind)[pool] != (dag_.high.*kind)[pool];
  return (slept ? cause_ns : ready_ns) + assumed[pool];
}

// Goes past a call whose body runs elsewhere.
void Propagator::skip_call(Strand& strand, Frame& frame, int64_t ready_ns) {
  if (options_.steps) log(strand, Step::Kind::skipped_call, frame.at, ready_ns, ready_ns);
  use_plain_range(strand, frame, ready_ns, ready_ns);
  strand.now_ns = ready_ns;
  frame.credit_ns = 0;
  ++frame.at;
}

bool Propagator::inside_task(const Frame& frame) const {
  return frame.body < dag_.task_count() && !has(frame.body, kIsThread);
}

bool Propagator::step_call(Strand& strand, Frame& frame, const Vertex& vertex) {
  const uint32_t task = vertex.id;
  const int64_t ready_ns = strand.now_ns + vertex.delay_ns - frame.credit_ns;
  const bool moved = !placements_.empty() && placements_[task] != Placement::own_thread;
  if (moved || ran_[task]) {
    skip_call(strand, frame, ready_ns);
    return true;
  }
  int64_t cause_ns = available_[task];
  bool missing_cause = false;
  // A coordinator does not wait, so nothing that it ran while it waited may hold it.
  const bool coordinator = continued(frame.body);
  bool at_once = coordinator || never_sleeps(vertex);
  if (has(task, kHasSpawn)) {
    at_once = at_once && inside_task(frame);
    missing_cause = cause_ns == kNever;
    // release_one releases only a strand that ran the task there by chance.
    if (missing_cause && !strand.released) return suspend(strand, Wait::spawn, task, at_once);
  } else if (has(task, kHasDependencies)) {
    uint32_t missing;
    cause_ns = dependencies_ns(task, &missing);
    missing_cause = missing != kNone;
    if (missing_cause && !strand.released) return suspend(strand, Wait::completion, missing, true);
  }
  strand.released = false;
  const bool late = at_once && cause_ns != kNever && cause_ns + std::min<int64_t>(vertex.label_ns, 0) > ready_ns;
  if (missing_cause || late) {
    // In this variant another thread brings the cause, later than this one comes here: the body runs there.
    if (has(task, kHasSpawn)) ran_[task] = 1;
    detach(frame.at);
    skip_call(strand, frame, ready_ns);
    return true;
  }
  const int64_t time_ns = at_once ? ready_ns : call_time(vertex, ready_ns, cause_ns);
  advance_to(strand, frame, ready_ns, time_ns);
  enter_body(strand, task, time_ns);
  return true;
}

bool Propagator::step_complete(Strand& strand, Frame& frame, const Vertex& vertex) {
  const uint32_t task = vertex.id;
  if (completed_[task] == kNever) {
    const int64_t now_ns = strand.now_ns + vertex.delay_ns - frame.credit_ns;
    int64_t time_ns = now_ns;
    if (!has(task, kHasBody) && has(task, kHasDependencies)) {
      uint32_t missing;
      time_ns = std::max(now_ns, dependencies_ns(task, &missing));
      if (missing != kNone && !strand.released) return suspend(strand, Wait::completion, missing, true);
      if (missing != kNone) {
        strand.released = false;
        detach(frame.at);
        advance_to(strand, frame, now_ns, now_ns);
        return true;
      }
    }
    if (options_.steps) log(strand, Step::Kind::vertex, frame.at, now_ns, now_ns);
    strand.now_ns = now_ns;
    frame.credit_ns = 0;
    if (!complete(strand, task, time_ns)) return false;
  } else if (any_continuation_ && expected_[task] > 0 && !strand.released) {
    return suspend(strand, Wait::coordinator, task, true);
  }
  strand.released = false;
  use_plain_range(strand, frame, strand.now_ns, strand.now_ns);
  ++frame.at;
  if (any_continuation_) host_parked(strand, task);
  return true;
}

// Makes the result of `task` available. False if the thread has to stand still until its coordinators have come to
// their waits, which decides where their next parts run.
bool Propagator::complete(Strand& strand, uint32_t task, int64_t time_ns) {
  completed_[task] = time_ns;
  wake_all(completion_list_[task]);
  if (!any_continuation_ || expected_[task] == 0) return true;
  host_[task] = current_;
  return suspend(strand, Wait::coordinator, task, true);
}

bool Propagator::step_wait(Strand& strand, Frame& frame, const Vertex& vertex) {
  const uint32_t task = vertex.id;
  const int64_t ready_ns =
      frame.asked ? strand.now_ns - dag_.answer_cost_ns[task] : strand.now_ns + vertex.delay_ns - frame.credit_ns;
  if (runs_at_wait(task) && !ran_[task]) {
    run_at_wait(strand, frame, task, ready_ns);
    return true;
  }
  if (continued(frame.body)) {
    return step_coordinator_wait(strand, frame, vertex, ready_ns);
  }
  const int64_t cause_ns = completed_[task];
  if (cause_ns == kNever) return suspend(strand, Wait::completion, task, false);
  const int64_t time_ns =
      cause_ns > ready_ns ? cause_ns + (vertex.assumed_label ? assumed_ns(&Latencies::wait_label_ns) : vertex.label_ns)
                          : ready_ns + (vertex.assumed_post ? assumed_ns(&Latencies::wait_post_ns) : vertex.post_ns);
  sleep_until(strand, frame, ready_ns, time_ns);
  return true;
}

// The thread runs the task that it asks for, and comes back to the same wait.
void Propagator::run_at_wait(Strand& strand, Frame& frame, uint32_t task, int64_t ready_ns) {
  if (options_.steps) log(strand, Step::Kind::asked, frame.at, ready_ns, ready_ns);
  frame.credit_ns = 0;
  frame.asked = true;
  available_[task] = ready_ns;
  enter_body(strand, task, ready_ns);
}

// Waits from `ready_ns` to `time_ns`.
void Propagator::sleep_until(Strand& strand, Frame& frame, int64_t ready_ns, int64_t time_ns) {
  const Body& body = dag_.bodies[frame.body];
  const bool first = body.state == BodyState::plain && frame.at == body.active_begin;
  const bool last = body.state == BodyState::plain && frame.at + 1 == body.active_end;
  const Use use = first ? Use::active : strand.use;
  set_use(strand, ready_ns, Use::waiting);
  set_use(strand, time_ns, last ? Use::none : use);
  if (options_.steps) log(strand, Step::Kind::vertex, frame.at, ready_ns, time_ns);
  strand.now_ns = time_ns;
  frame.credit_ns = 0;
  frame.asked = false;
  ++frame.at;
}

bool Propagator::step_block(Strand& strand, Frame& frame, const Vertex& vertex) {
  const int64_t ready_ns = strand.now_ns + vertex.delay_ns - frame.credit_ns;
  const int64_t cause_ns = linked_[vertex.id];
  if (cause_ns == kNever) return suspend(strand, Wait::link, vertex.id, false);
  const int64_t time_ns =
      cause_ns > ready_ns ? cause_ns + (vertex.assumed_label ? assumed_ns(&Latencies::block_label_ns) : vertex.label_ns)
                          : ready_ns + (vertex.assumed_post ? assumed_ns(&Latencies::block_post_ns) : vertex.post_ns);
  advance_to(strand, frame, ready_ns, time_ns);
  return true;
}

bool Propagator::step_acquire(Strand& strand, Frame& frame, const Vertex& vertex) {
  const int64_t ready_ns = strand.now_ns + vertex.delay_ns - frame.credit_ns;
  const int64_t cause_ns = linked_[vertex.id];
  if (cause_ns == kNever && !strand.released) return suspend(strand, Wait::link, vertex.id, true);
  strand.released = false;
  const bool slept = cause_ns != kNever && cause_ns > ready_ns;
  advance_to(strand, frame, ready_ns,
             slept ? std::min(cause_ns + vertex.post_ns, ready_ns + vertex.label_ns) : ready_ns);
  return true;
}

void Propagator::enter_body(Strand& strand, uint32_t index, int64_t time_ns) {
  const Body& body = dag_.bodies[index];
  const bool is_task = index < dag_.task_count();
  const bool own_run = !is_task || has(index, kIsThread);
  if (is_task) ran_[index] = 1;
  strand.frames.push_back({index, body.begin, body.end, 0, strand.use});
  strand.now_ns = time_ns;
  if (!own_run || body.state == BodyState::active) set_use(strand, time_ns, Use::active);
  if (options_.steps) log(strand, Step::Kind::body_begin, index, time_ns, time_ns);
}

bool Propagator::end_body(Strand& strand) {
  Frame& frame = strand.frames.back();
  const uint32_t index = frame.body;
  const bool is_task = index < dag_.task_count();
  if (!frame.ended) {
    frame.ended = true;
    strand.now_ns += dag_.bodies[index].end_delay_ns - frame.credit_ns;
    frame.credit_ns = 0;
    if (is_task && !has(index, kHasComplete) && !complete(strand, index, strand.now_ns)) return false;
  }
  if (is_task && any_continuation_ && !has(index, kHasComplete)) {
    if (expected_[index] > 0 && !strand.released) return suspend(strand, Wait::coordinator, index, true);
    strand.released = false;
    if (host_parked(strand, index)) return true;  // they run first, then this body ends
  }
  if (options_.steps) {
    const int64_t end_ns = strand.now_ns - (called(index) ? dag_.answer_cost_ns[index] : 0);
    log(strand, Step::Kind::body_end, index, end_ns, end_ns);
  }
  if (is_task && !has(index, kIsThread)) result_.end_ns = std::max(result_.end_ns, strand.now_ns);
  const Use outer = frame.outer;
  strand.frames.pop_back();
  if (strand.use != outer) set_use(strand, strand.now_ns, outer);
  return true;
}

// A call or completion that its recorded thread cannot make, because its causes come later, gets a thread of its own.
void Propagator::detach(uint32_t vertex) {
  ++result_.detached;
  const auto thread = static_cast<uint32_t>(std::max(result_.steps.size(), dag_.roots.size()));
  if (options_.steps) result_.steps.emplace_back();
  const uint32_t index = new_strand(thread, 0);
  strands_[index].detached_vertex = vertex;
  ready_.push_back(index);
}

bool Propagator::begin_detached(Strand& strand) {
  const Vertex& vertex = dag_.vertices[strand.detached_vertex];
  int64_t time_ns;
  if (vertex.vertex_kind() == VertexKind::call && has(vertex.id, kHasSpawn)) {
    if (available_[vertex.id] == kNever) return suspend(strand, Wait::spawn, vertex.id, false);
    time_ns = call_time(vertex, kUnborn, available_[vertex.id]);
  } else {
    uint32_t missing;
    time_ns = dependencies_ns(vertex.id, &missing);
    if (missing != kNone) return suspend(strand, Wait::completion, missing, false);
  }
  strand.now_ns = strand.since_ns = time_ns;
  if (options_.steps) log(strand, Step::Kind::vertex, strand.detached_vertex, time_ns, time_ns);
  strand.detached_vertex = kNone;
  if (vertex.vertex_kind() == VertexKind::call) {
    enter_body(strand, vertex.id, time_ns);
  } else if (completed_[vertex.id] == kNever) {
    completed_[vertex.id] = time_ns;
    wake_all(completion_list_[vertex.id]);
    if (any_continuation_) {
      // Coordinators that wait for a join are hosted here.
      expected_[vertex.id] = 0;
      host_parked(strand, vertex.id);
    }
  }
  return true;
}

uint32_t& Propagator::list_of(Wait wait, uint32_t id) {
  switch (wait) {
    case Wait::spawn:
      return spawn_list_[id];
    case Wait::link:
      return link_list_[id];
    case Wait::coordinator:
      return host_[id];
    default:
      return completion_list_[id];
  }
}

bool Propagator::suspend(Strand& strand, Wait wait, uint32_t id, bool soft) {
  strand.wait = wait;
  strand.wait_id = id;
  strand.soft = soft;
  if (soft) (wait == Wait::link ? at_locks_ : soft_).emplace(strand.now_ns, current_);
  if (wait == Wait::coordinator) {
    host_[id] = current_;
    strand.next = kNone;
    return false;
  }
  uint32_t& head = list_of(wait, id);
  strand.next = head;
  head = current_;
  return false;
}

void Propagator::wake_all(uint32_t& head) {
  uint32_t index = head;
  head = kNone;
  while (index != kNone) {
    Strand& strand = strands_[index];
    strand.wait = Wait::nothing;
    ready_.push_back(index);
    index = strand.next;
  }
}

void Propagator::unlink(uint32_t index) {
  Strand& strand = strands_[index];
  if (strand.wait == Wait::coordinator) {
    host_[strand.wait_id] = kNone;
  } else {
    uint32_t* at = &list_of(strand.wait, strand.wait_id);
    while (*at != index) at = &strands_[*at].next;
    *at = strand.next;
  }
  strand.wait = Wait::nothing;
}

void Propagator::report_stuck() {
  for (uint32_t i = 0; i < strand_count_; ++i) {
    const Strand& strand = strands_[i];
    if (strand.finished) continue;
    const uint32_t body = strand.frames.empty() ? kNone : strand.frames.back().body;
    const bool for_task = strand.wait != Wait::link && strand.wait != Wait::nothing;
    result_.stuck.push_back(
        {body < dag_.task_count() ? TaskId(body) : TaskId::none(), for_task ? TaskId(strand.wait_id) : TaskId::none()});
  }
  if (!any_continuation_) return;
  for (uint32_t task = 0; task < parked_list_.size(); ++task) {
    for (uint32_t at = parked_list_[task]; at != kNone; at = parked_[at].next) {
      result_.stuck.push_back({TaskId(parked_[at].frame.body), TaskId(task)});
    }
  }
}

void Propagator::set_use(Strand& strand, int64_t time_ns, Use use) {
  const int64_t spent_ns = time_ns - strand.since_ns;
  if (strand.use == Use::active)
    result_.active_ns = base::add_saturated(result_.active_ns, spent_ns);
  else if (strand.use == Use::waiting)
    result_.waiting_ns = base::add_saturated(result_.waiting_ns, spent_ns);
  if (options_.changes && strand.use != use) result_.changes.push_back(UseChange::at(time_ns, strand.use, use));
  strand.since_ns = time_ns;
  strand.use = use;
}

void Propagator::log(const Strand& strand, Step::Kind kind, uint32_t index, int64_t ready_ns, int64_t time_ns) {
  result_.steps[strand.thread].push_back({kind, index, ready_ns, time_ns});
}

}  // namespace contrafact::graph
