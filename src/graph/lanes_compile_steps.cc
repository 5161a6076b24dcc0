// What one vertex becomes, and what it waits for.
#include "graph/lane_compiler.h"

namespace contrafact::graph {

bool LaneCompiler::step(uint32_t body) {
  const uint32_t at = actors_[body].at;
  if (at == dag_.bodies[body].end) return end(body);
  const Vertex& vertex = dag_.vertices[at];
  switch (vertex.vertex_kind()) {
    case VertexKind::spawn:
      return spawn(body, vertex);
    case VertexKind::call:
      return call(body, vertex);
    case VertexKind::complete:
      return complete(body, vertex);
    case VertexKind::wait:
      return wait(body, vertex);
    case VertexKind::block:
      return block(body, vertex, LaneOpCode::wait);
    case VertexKind::acquire:
      return block(body, vertex, LaneOpCode::acquire);
    case VertexKind::sleep: {
      LaneOp& op = emit(LaneOpCode::sleep, body, vertex);
      op.flags |= kWaits;
      use_waiting(body, op);
      break;
    }
    case VertexKind::wake:
      write(linked_[vertex.id], timed(body, vertex), body);
      break;
    case VertexKind::leave:
    case VertexKind::enter:
      leave_or_enter(body, vertex);
      break;
  }
  ++actors_[body].at;
  return true;
}

void LaneCompiler::leave_or_enter(uint32_t body, const Vertex& vertex) {
  const Body& row = dag_.bodies[body];
  Actor& actor = actors_[body];
  LaneOp& op = timed(body, vertex);
  if (row.active_begin < actor.at && actor.at < row.active_end) {
    if (vertex.vertex_kind() == VertexKind::leave)
      vacate(actor, op);
    else
      occupy(actor, op);
  }
  drop_if_idle(op, body);
}

bool LaneCompiler::spawn(uint32_t body, const Vertex& vertex) {
  const uint32_t task = vertex.id;
  Actor& actor = actors_[body];
  LaneOp& op = timed(body, vertex);
  if (has(task, kHasDelay)) op.label_ns = int64_t{dag_.trace->tasks[task].delay_us} * 1000;
  write(available_[task], op, body);
  respond(task);
  ++actor.at;
  if (!may_move(task)) return true;
  Actor& spawned = actors_[task];
  spawned.spawner = body;
  spawned.holds_spawner = true;
  return hold(body, Hold::spawned, task);
}

void LaneCompiler::respond(uint32_t task) {
  if (!outermost_[task] || !available_[task].known || !completed_[task].known) return;
  LaneOp& op = program_.ops.emplace_back(LaneOp{LaneOpCode::response});
  op.cause = completed_[task].slot;
  op.result = available_[task].slot;
  read(available_[task]);
  read(completed_[task]);
}

void LaneCompiler::assume(LaneOp& op, const Vertex& vertex, int64_t label_ns, int64_t post_ns) const {
  if (vertex.assumed_label) op.label_ns = label_ns;
  if (vertex.assumed_post) op.post_ns = post_ns;
}

bool LaneCompiler::causes_known(uint32_t body, const Vertex& vertex, uint32_t* slot) {
  bool cause;
  *slot = kNone;
  sources_of(vertex.id, sources_, &cause);
  for (uint32_t source : sources_) {
    if (!completed_[source].known) return wait_until_known(body, completed_[source], Hold::completed, source);
  }
  if (cause && !sources_.empty()) {
    *slot = slots_.take();
    for (size_t i = 0; i < sources_.size(); ++i) {
      LaneOp& op = program_.ops.emplace_back(LaneOp{i == 0 ? LaneOpCode::first_cause : LaneOpCode::next_cause});
      op.result = *slot;
      op.cause = completed_[sources_[i]].slot;
    }
  }
  for (uint32_t source : sources_) read(completed_[source]);
  return true;
}

bool LaneCompiler::call(uint32_t body, const Vertex& vertex) {
  const uint32_t task = vertex.id;
  Actor& actor = actors_[body];
  Actor& called = actors_[task];
  uint32_t cause = kNone;
  if (has(task, kHasSpawn)) {
    if (!available_[task].known) return wait_until_known(body, available_[task], Hold::available, task);
    cause = available_[task].slot;
  } else if (has(task, kHasDependencies) && !causes_known(body, vertex, &cause)) {
    return false;
  }
  called.moves = called.holds_spawner;
  LaneOp& op = emit(called.moves ? LaneOpCode::call_moved : LaneOpCode::call, body, vertex);
  const size_t pool =
      has(task, kHasPool) ? dag_.trace->tasks[task].pool.index() : dag_.typical.call_label_ns.size() - 1;
  assume(op, vertex, dag_.typical.call_label_ns[pool], dag_.typical.call_post_ns[pool]);
  if (cause != kNone) {
    op.flags |= kCaused;
    op.cause = cause;
  }
  const bool in_task = is_task(body) && !has(body, kIsThread);
  const bool never_sleeps = vertex.post_ns == 0 && vertex.label_ns <= 0;
  if (never_sleeps && (!has(task, kHasSpawn) || in_task)) op.flags |= kAtOnce;
  if (may_coordinate(body)) op.flags |= kCoordinated;
  use_range(body, op);
  if (has(task, kHasSpawn))
    read(available_[task]);
  else if (cause != kNone)
    slots_.give_back(cause);
  const size_t at = program_.ops.size() - 1;
  may_detach(task, op);
  ++actor.at;
  called.caller = body;
  enter(task, actor.occupied);
  hold(body, Hold::callee, task);
  LaneOp& emitted = program_.ops[at];
  emitted.callee = called.slot;
  emitted.moves = called.moves ? class_[task] : 0;
  if (called.occupied && !actor.occupied) emitted.flags |= kCalleeRises;
  if (called.moves) {
    emitted.spawner = spawner_slot(called);
    if (!spawner_occupied(called)) emitted.flags |= kSpawnerRises;
  }
  if (emitted.flags & (kCalleeRises | kSpawnerRises)) ++program_.changes_max;
  if (!called.moves) return false;
  if (!continues_[class_[task]]) return false;
  called.host = hosts_.take();
  LaneOp& host = program_.ops.emplace_back(LaneOp{LaneOpCode::host});
  host.host = called.host;
  host.spawner = spawner_slot(called);
  host.flags = program_.ops[at].flags & kSpawnerRises;
  host.label_ns = dag_.spawn_cost_ns[task];
  return false;
}

// A task that comes too late for a thread that does not sleep runs on one of its own.
void LaneCompiler::may_detach(uint32_t task, LaneOp& call) {
  if (!(call.flags & (kAtOnce | kCoordinated))) return;
  call.result = kNone;
  if (!(call.flags & kCaused) || has(task, kIsThread) || dag_.bodies[task].state != BodyState::active) return;
  call.result = actors_[task].detached = slots_.take();
  if (!has(task, kHasSpawn)) call.flags |= kAtCause;
  program_.changes_max += 2;
}

bool LaneCompiler::complete(uint32_t body, const Vertex& vertex) {
  const uint32_t task = vertex.id;
  uint32_t cause = kNone;
  if (has_sources(vertex) && !causes_known(body, vertex, &cause)) return false;
  const bool last = task == body && actors_[body].at + 1 == dag_.bodies[body].end;
  if (last && cause == kNone && coordinator_[task] == kNone && dag_.bodies[body].state == BodyState::active) {
    actors_[body].pending_ns += vertex.delay_ns;
    ++actors_[body].at;
    return end_with(body, dag_.bodies[body].end_delay_ns, true);
  }
  LaneOp& op = timed(body, vertex);
  if (cause != kNone) {
    op.code = LaneOpCode::complete;
    op.cause = cause;
  }
  write(completed_[task], op, body);
  if (cause != kNone) slots_.give_back(cause);
  respond(task);
  ++actors_[body].at;
  return !stand(body, task);
}

bool LaneCompiler::stand(uint32_t body, uint32_t task) {
  const uint32_t coordinator = coordinator_[task];
  if (coordinator == kNone || coordinator == body || !may_still_coordinate(coordinator)) return false;
  if (coordinator == actors_[body].spawner) return_inlined(body);
  stander_[task] = body;
  hold(body, Hold::coordinator, task);
  return true;
}

void LaneCompiler::return_inlined(uint32_t body) {
  Actor& actor = actors_[body];
  if (!actor.holds_spawner || continues_[class_[body]] || actor.at != dag_.bodies[body].end) return;
  LaneOp& op = emit(LaneOpCode::end_moved, body);
  actor.pending_ns = op.delay_ns;  // of the lanes that are still to end
  op.delay_ns += actor.ended ? 0 : dag_.bodies[body].end_delay_ns;
  fill_end(body, op);
  op.flags |= kInlinedOnly;
  actor.inlined_ended = true;
  free_spawner(body);
}

bool LaneCompiler::may_still_coordinate(uint32_t body) const {
  return may_move(body) && continues_[class_[body]] && (actors_[body].slot == kNone || may_coordinate(body));
}

void LaneCompiler::let_hosts_go(uint32_t coordinator) {
  auto found = hosted_by_.find(coordinator);
  if (found == hosted_by_.end()) return;
  for (const auto& [body, task] : found->second) let_host_go(body, task);
  hosted_by_.erase(found);
}

void LaneCompiler::let_host_go(uint32_t body, uint32_t task) {
  if (auto fork = host_forks_.find(task); fork != host_forks_.end()) {
    close_loop(fork->second);
    host_forks_.erase(fork);
  }
  if (actors_[body].hold == Hold::coordinator && actors_[body].held_by == task) go_on(body);
}

bool LaneCompiler::wait(uint32_t body, const Vertex& vertex) {
  const uint32_t task = vertex.id;
  Actor& actor = actors_[body];
  Value& value = completed_[task];
  const bool coordinates = may_coordinate(body);
  if (!value.known) return wait_until_known(body, value, Hold::completed, task);
  const uint32_t host = coordinator_[task] == body ? std::exchange(stander_[task], kNone) : kNone;
  if (!coordinates) {
    LaneOp& op = emit(LaneOpCode::wait, body, vertex);
    fill_wait(op, vertex, value);
    use_waiting(body, op);
    if (host != kNone) let_host_go(host, task);
  } else {
    LaneOp& op = emit(LaneOpCode::wait_moved, body, vertex);
    fill_wait(op, vertex, value);
    op.host = actor.host;
    if (host == kNone) {
      op.flags |= kUnhosted;
    } else {
      auto fork = host_forks_.find(task);
      op.callee = fork == host_forks_.end() ? actors_[host].slot : fork->second.slot;
      op.flags |= (fork == host_forks_.end() ? actors_[host].occupied : fork->second.occupied) ? 0 : kSlotFree;
      hosted_by_[body].emplace_back(host, task);
      program_.changes_max += 2;
    }
  }
  read(value);
  ++actor.at;
  return true;
}

void LaneCompiler::fill_wait(LaneOp& op, const Vertex& vertex, const Value& value) const {
  assume(op, vertex, dag_.typical.wait_label_ns, dag_.typical.wait_post_ns);
  op.cause = value.slot;
  op.flags |= kWaits;
}

bool LaneCompiler::block(uint32_t body, const Vertex& vertex, LaneOpCode code) {
  Value& value = linked_[vertex.id];
  if (!value.known) return wait_until_known(body, value, Hold::linked, vertex.id);
  program_.takes_locks |= code == LaneOpCode::acquire;
  LaneOp& op = emit(code, body, vertex);
  assume(op, vertex, dag_.typical.block_label_ns, dag_.typical.block_post_ns);
  op.cause = value.slot;
  use_range(body, op);
  read(value);
  ++actors_[body].at;
  return true;
}

bool LaneCompiler::end(uint32_t body) {
  Actor& actor = actors_[body];
  const int64_t delay_ns = actor.ended ? 0 : dag_.bodies[body].end_delay_ns;
  const bool completes = is_task(body) && !has(body, kHasComplete) && !actor.ended;
  actor.ended = true;
  if (completes && coordinator_[body] != kNone) {
    LaneOp& op = emit(LaneOpCode::step, body);
    op.delay_ns += delay_ns;
    write(completed_[body], op, body);
    respond(body);
    if (!stand(body, body)) go_on(body);
    return false;
  }
  if (completes) actor.pending_ns += delay_ns;
  return end_with(body, completes ? 0 : delay_ns, completes);
}

bool LaneCompiler::end_with(uint32_t body, int64_t after_ns, bool completes) {
  const Actor& actor = actors_[body];
  LaneOp& op = emit(actor.moves ? LaneOpCode::end_moved : LaneOpCode::end, body);
  op.delay_ns += after_ns;
  op.post_ns = after_ns;
  if (completes) write(completed_[body], op, body);
  fill_end(body, op);
  if (actor.inlined_ended) op.flags |= kOthersOnly;
  leave(body);
  if (completes) respond(body);
  return false;
}

void LaneCompiler::fill_end(uint32_t body, LaneOp& op) {
  const Actor& actor = actors_[body];
  const bool pins = is_task(body) ? !has(body, kIsThread) : bool{dag_.roots[body - tasks_].pins_the_end};
  if (pins) op.flags |= kPinsTheEnd;
  op.callee = actor.caller == kNone ? kNone : actors_[actor.caller].slot;
  if (actor.detached != kNone) {
    op.flags |= kAtOnce;
    op.cause = actor.detached;
  }
  if (actor.moves) {
    op.moves = class_[body];
    op.spawner = spawner_slot(actor);
    op.label_ns = dag_.spawn_cost_ns[body] + dag_.answer_cost_ns[body];
    op.host = actor.host == kNone ? 0 : actor.host;
    op.flags |= actor.caller_free ? kCalleeRises : 0;
    op.flags |= spawner_occupied(actor) ? 0 : kSpawnerRises;
    ++program_.changes_max;
  } else if (actor.occupied && actor.caller_free) {
    lower(op);
  } else if (!actor.occupied && !actor.caller_free) {
    raise(op);
  }
}

void LaneCompiler::leave(uint32_t body) {
  Actor& actor = actors_[body];
  if (actor.host != kNone) {
    hosts_.give_back(actor.host);
    let_hosts_go(body);
  }
  if (actor.moves && actor.holds_spawner) free_spawner(body);
  if (actor.caller != kNone) go_on(actor.caller);
  slots_.give_back(actor.slot);
  if (actor.detached != kNone) slots_.give_back(actor.detached);
  --unfinished_;
}

}  // namespace contrafact::graph
