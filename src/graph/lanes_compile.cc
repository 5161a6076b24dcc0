#include <algorithm>

#include "graph/lane_compiler.h"

namespace contrafact::graph {
namespace {

// A window is short enough for the times of bodies that others depend on to stay in the cache. It is long enough for
// the machine to foresee the operations of one body that follow each other, which takes more than half off a pass.
constexpr int64_t kWindowVertices = 16'384;

}  // namespace

LaneCompiler::LaneCompiler(const TraceDag& dag, std::span<const Move> moves, std::span<const TaskId> outermost,
                           size_t runner_bytes_max)
    : dag_(dag),
      tasks_(static_cast<uint32_t>(dag.task_count())),
      runner_bytes_max_(runner_bytes_max),
      actors_(dag.bodies.size()) {
  program_.moves = moves.size();
  program_.begin_ns = dag.trace->begin_ns();
  program_.end_ns = dag.trace->end_ns();
  const auto windows = static_cast<int64_t>(dag.vertices.size()) / kWindowVertices + 1;
  window_ns_ = std::max<int64_t>(1, (program_.end_ns - program_.begin_ns) / windows);
  for (const Move& move : moves) program_.placements.push_back(move.placement);
  // Where tasks fork each other, the program has half as many operations more. Unused room takes no memory.
  program_.ops.reserve(2 * (dag.vertices.size() + dag.bodies.size()));
  classify(moves);
  outermost_.resize(tasks_);
  for (TaskId task : outermost) outermost_[task.index()] = true;
  available_.resize(tasks_);
  completed_.resize(tasks_);
  linked_.resize(dag.link_count);
  coordinator_.assign(tasks_, kNone);
  stander_.assign(tasks_, kNone);
  count_readers();
}

LaneProgram LaneCompiler::run() {
  if (too_many_classes_) return std::move(program_);
  start_roots();
  while (true) {
    while (!ready_.empty()) {
      if (!has_room_for(kLanesLeast)) return {};  // each operation more only adds to what is needed
      const uint32_t body = ready_.top().second;
      ready_.pop();
      advance(body);
    }
    if (unfinished_ == 0 || !relax()) break;
  }
  program_.possible = unfinished_ == 0;
  program_.slots = slots_.count();
  program_.hosts = hosts_.count();
  find_written();
  while (program_.lanes >= kLanesLeast && !has_room_for(program_.lanes)) program_.lanes /= 2;
  if (program_.lanes < kLanesLeast) return {};
  return std::move(program_);
}

// Whether runners of so many lanes fit. The operations themselves may take as much memory again.
bool LaneCompiler::has_room_for(size_t lanes) const {
  const size_t bytes = LaneRunner::bytes(program_, lanes);
  return bytes <= runner_bytes_max_ && program_.ops.size() * sizeof(LaneOp) <= 2 * runner_bytes_max_ - bytes;
}

void LaneCompiler::classify(std::span<const Move> moves) {
  class_.assign(tasks_, 0);
  program_.class_moves.emplace_back();
  std::map<std::vector<uint32_t>, uint16_t> known;
  std::unordered_map<uint64_t, uint16_t> longer;  // (class, move): the class with that move more
  for (uint32_t move = 0; move < moves.size(); ++move) {
    for (TaskId task : moves[move].tasks) {
      uint16_t& at = class_[task.index()];
      auto [found, is_new] = longer.try_emplace(uint64_t{at} << 32 | move, 0);
      if (is_new) {
        std::vector<uint32_t> key = program_.class_moves[at];
        key.push_back(move);
        auto [entry, fresh] = known.try_emplace(key, static_cast<uint16_t>(program_.class_moves.size()));
        if (fresh) program_.class_moves.push_back(std::move(key));
        found->second = entry->second;
      }
      at = found->second;
    }
  }
  too_many_classes_ = program_.class_moves.size() > UINT16_MAX;  // their numbers have wrapped
  program_.refused.assign(program_.class_moves.size(), false);
  program_.refused_coordinators.assign(program_.class_moves.size(), false);
  inlines_.assign(program_.class_moves.size(), false);
  continues_.assign(program_.class_moves.size(), false);
  for (size_t i = 0; i < program_.class_moves.size(); ++i) {
    for (uint32_t move : program_.class_moves[i]) {
      if (moves[move].placement == Placement::at_wait) continue;
      (moves[move].placement == Placement::continuation ? continues_ : inlines_)[i] = true;
    }
    if (!inlines_[i] && !continues_[i]) program_.refused[i] = true;  // class 0, too: nobody moves its tasks
  }
}

void LaneCompiler::sources_of(uint32_t task, std::vector<uint32_t>& sources, bool* cause) const {
  sources.clear();
  *cause = true;
  for (uint32_t i = dag_.dependency_begin[task]; i < dag_.dependency_begin[task + 1]; ++i) {
    const model::Dependency& dependency = dag_.trace->dependencies[i];
    if (dependency.mode != format::DependsMode::all) {
      *cause = false;
      return;
    }
    const uint32_t source = dependency.source.value;
    if (has(source, kHasBody) || has(source, kHasComplete)) sources.push_back(source);
  }
}

bool LaneCompiler::has_sources(const Vertex& vertex) const {
  if (!has(vertex.id, kHasDependencies)) return false;
  return vertex.vertex_kind() == VertexKind::call ? !has(vertex.id, kHasSpawn) : !has(vertex.id, kHasBody);
}

void LaneCompiler::count_readers() {
  std::vector<uint32_t> coordinated(tasks_);  // waits by coordinators
  std::vector<bool> spawned(tasks_), completes(tasks_);
  bool cause;
  for (uint32_t body = 0; body < dag_.bodies.size(); ++body) {
    const bool coordinates = is_task(body) && continues_[class_[body]];
    for (uint32_t at = dag_.bodies[body].begin; at < dag_.bodies[body].end; ++at) {
      const Vertex& vertex = dag_.vertices[at];
      const VertexKind kind = vertex.vertex_kind();
      if (kind == VertexKind::spawn) spawned[vertex.id] = true;
      if (kind == VertexKind::complete) completes[vertex.id] = true;
      if (kind == VertexKind::block || kind == VertexKind::acquire) ++linked_[vertex.id].readers;
      if (kind == VertexKind::wait) {
        ++completed_[vertex.id].readers;
        if (coordinates) {
          ++coordinated[vertex.id];
          coordinator_[vertex.id] = body;
        }
      }
      if (kind == VertexKind::call && has(vertex.id, kHasSpawn)) ++available_[vertex.id].readers;
      if ((kind == VertexKind::call || kind == VertexKind::complete) && has_sources(vertex)) {
        sources_of(vertex.id, sources_, &cause);
        for (uint32_t source : sources_) ++completed_[source].readers;
      }
      if (kind == VertexKind::call && !has(vertex.id, kHasComplete)) completes[vertex.id] = true;
    }
  }
  for (uint32_t task = 0; task < tasks_; ++task) {
    // Which body hosts which first depends on the order in which they come: no lane of those is exact.
    if (coordinated[task] != 1) coordinator_[task] = kNone;
    outermost_[task] = outermost_[task] && spawned[task] && completes[task];
    if (!outermost_[task]) continue;
    ++program_.answered;
    ++available_[task].readers;
    ++completed_[task].readers;
  }
}

void LaneCompiler::start_roots() {
  for (const Root& root : dag_.roots) program_.begins.push_back(root.begin_ns);
  for (uint32_t thread = 0; thread < dag_.roots.size(); ++thread) {
    const uint32_t body = tasks_ + thread;
    if (!dag_.bodies[body].called) continue;
    enter(body, false);
    LaneOp& op = emit(LaneOpCode::set, body);
    op.cause = thread;
    if (actors_[body].occupied) raise(op);
  }
}

void LaneCompiler::enter(uint32_t body, bool occupied) {
  Actor& actor = actors_[body];
  const Body& row = dag_.bodies[body];
  const bool own_run = !is_task(body) || has(body, kIsThread);
  actor.at = row.begin;
  actor.slot = slots_.take();
  actor.caller_free = !occupied;
  actor.occupied = occupied || !own_run || row.state == BodyState::active;
  ++unfinished_;
  go_on(body);
}

int64_t LaneCompiler::recorded_ns(uint32_t body) const {
  const uint32_t at = actors_[body].at;
  if (at < dag_.bodies[body].end) return dag_.trace->time_ns[dag_.vertex_event[at]];
  if (is_task(body)) {
    const model::EventIndex end = dag_.trace->tasks[body].end;
    return end.valid() ? dag_.trace->time_ns[end.index()] : program_.end_ns;
  }
  return dag_.trace->time_ns[dag_.trace->thread_ranges[body - tasks_].end - 1];
}

int64_t LaneCompiler::window_of(uint32_t body) const {
  return recorded_ns(body) / window_ns_;
}

void LaneCompiler::go_on(uint32_t body) {
  actors_[body].hold = Hold::nothing;
  ready_.emplace(window_of(body), body);
}

bool LaneCompiler::hold(uint32_t body, Hold hold, uint32_t held_by) {
  actors_[body].hold = hold;
  actors_[body].held_by = held_by;
  if (hold == Hold::spawned || hold == Hold::coordinator) held_.emplace(recorded_ns(body), body);
  return false;
}

void LaneCompiler::advance(uint32_t body) {
  while (step(body)) {
    if (!ahead_.empty() && far_enough(body)) return;
    if (!ready_.empty() && ready_.top().first < window_of(body)) {
      go_on(body);
      return;
    }
  }
}

LaneOp& LaneCompiler::emit(LaneOpCode code, uint32_t body) {
  LaneOp& op = program_.ops.emplace_back(LaneOp{code});
  op.now = actors_[body].slot;
  op.host_moves = is_task(body) && actors_[body].moves ? class_[body] : 0;
  op.delay_ns = std::exchange(actors_[body].pending_ns, 0);
  return op;
}

LaneOp& LaneCompiler::emit(LaneOpCode code, uint32_t body, const Vertex& vertex) {
  LaneOp& op = emit(code, body);
  op.delay_ns += vertex.delay_ns;
  op.label_ns = vertex.label_ns;
  op.post_ns = vertex.post_ns;
  return op;
}

LaneOp& LaneCompiler::timed(uint32_t body, const Vertex& vertex) {
  LaneOp& op = emit(LaneOpCode::step, body, vertex);
  op.label_ns = op.post_ns = 0;
  use_range(body, op);
  return op;
}

void LaneCompiler::write(Value& value, LaneOp& op, uint32_t body) {
  if (value.readers > 0) {
    value.slot = slots_.take();
    op.flags |= kWrites;
    op.result = value.slot;
  }
  value.known = true;
  drop_if_idle(op, body);
  wake(value);
}

void LaneCompiler::drop_if_idle(const LaneOp& op, uint32_t body) {
  if (op.code != LaneOpCode::step || op.flags != 0) return;
  actors_[body].pending_ns += op.delay_ns;
  program_.ops.pop_back();
}

void LaneCompiler::read(Value& value) {
  if (--value.readers == 0) slots_.give_back(value.slot);
}

void LaneCompiler::wake(Value& value) {
  uint32_t body = std::exchange(value.waiters, kNone);
  while (body != kNone) {
    const uint32_t next = actors_[body].next;
    go_on(body);
    body = next;
  }
}

bool LaneCompiler::wait_until_known(uint32_t body, Value& value, Hold why, uint32_t id) {
  actors_[body].next = value.waiters;
  value.waiters = body;
  return hold(body, why, id);
}

void LaneCompiler::raise(LaneOp& op) {
  op.flags |= kRises;
  ++program_.changes_max;
}

void LaneCompiler::lower(LaneOp& op) {
  op.flags |= kFalls;
  ++program_.changes_max;
}

void LaneCompiler::occupy(Actor& actor, LaneOp& op) {
  if (!actor.occupied) raise(op);
  actor.occupied = true;
}

void LaneCompiler::vacate(Actor& actor, LaneOp& op) {
  if (actor.occupied) lower(op);
  actor.occupied = false;
}

void LaneCompiler::use_range(uint32_t body, LaneOp& op) {
  const Body& row = dag_.bodies[body];
  Actor& actor = actors_[body];
  if (row.state != BodyState::plain) return;
  if (actor.at == row.active_begin) occupy(actor, op);
  if (actor.at + 1 == row.active_end) vacate(actor, op);
}

void LaneCompiler::use_waiting(uint32_t body, LaneOp& op) {
  const Body& row = dag_.bodies[body];
  Actor& actor = actors_[body];
  const bool plain = row.state == BodyState::plain;
  const bool after = plain && actor.at + 1 == row.active_end ? false
                     : plain && actor.at == row.active_begin ? true
                                                             : actor.occupied;
  occupy(actor, op);
  if (!after) vacate(actor, op);
}

LaneProgram compile_lanes(const TraceDag& dag, std::span<const Move> moves, std::span<const TaskId> outermost,
                          size_t runner_bytes_max) {
  LaneProgram program = LaneCompiler(dag, moves, outermost, runner_bytes_max).run();
  narrow(program);
  return program;
}

}  // namespace contrafact::graph
