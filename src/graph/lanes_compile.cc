// The common order of all variants, found by running the DAG once without times: every body runs as far as what it
// depends on in any variant has run. Among those that can go on, the one that did so first in the recording goes first:
// times are then asked for soon after they are computed.
//
// Where nothing can go on, the variants' needs contradict each other. Then, in this order: a coordinator gives its
// thread back before the result is there (lanes in which it would have been there are not exact); a thread does not
// wait for the coordinator that it would host (lanes in which it had to are not exact); a class of tasks does not move
// at all (no lane that moves them is exact).
#include <algorithm>
#include <map>
#include <queue>
#include <unordered_map>

#include "graph/lanes.h"

namespace contrafact::graph {
namespace {

constexpr uint32_t kNone = UINT32_MAX;

// Slots that nobody reads any more are used again: few are ever alive.
class SlotPool {
 public:
  uint32_t take() {
    if (free_.empty()) return count_++;
    const uint32_t slot = free_.back();
    free_.pop_back();
    return slot;
  }
  void give_back(uint32_t slot) { free_.push_back(slot); }
  uint32_t count() const { return count_; }

 private:
  std::vector<uint32_t> free_;
  uint32_t count_ = 0;
};

// A time that others ask for: where it is, and how many will.
struct Value {
  uint32_t slot = kNone;
  uint32_t readers = 0;
  uint32_t waiters = kNone;  // bodies that cannot go on before
  bool known = false;
};

// What a body that cannot go on waits for.
enum class Hold : uint8_t {
  nothing,
  available,    // task `held_by` is spawned
  completed,    // task `held_by` completes
  linked,       // wake-up `held_by`
  callee,       // task `held_by`, which runs here, ends
  spawned,      // task `held_by`, which some lanes run here, ends
  coordinator,  // the coordinator of task `held_by`, whose next part may run here, leaves
};

struct Actor {  // a body on its way
  uint32_t at = 0;
  uint32_t slot = kNone;
  uint32_t host = kNone;    // a coordinator's slot of hosts
  uint32_t caller = kNone;  // bodies that go on after it
  uint32_t spawner = kNone;
  uint32_t next = kNone;   // in a list of waiters
  int64_t pending_ns = 0;  // delay of vertices that nobody asks for
  Hold hold = Hold::nothing;
  uint32_t held_by = kNone;
  bool occupied = false;     // its thread, at this place
  bool caller_free = false;  // its caller's thread is not occupied around it
  bool moves = false;        // called as one that some lanes move
  bool parked = false;
  bool ended = false;
  bool holds_spawner = false;
  bool inlined_ended = false;  // in the lanes that inline it
};

class LaneCompiler {
 public:
  LaneCompiler(const TraceDag& dag, std::span<const Move> moves, std::span<const TaskId> outermost)
      : dag_(dag), tasks_(static_cast<uint32_t>(dag.task_count())), actors_(dag.bodies.size()) {
    program_.moves = moves.size();
    program_.begin_ns = dag.trace->begin_ns();
    program_.end_ns = dag.trace->end_ns();
    for (const Move& move : moves) program_.placements.push_back(move.placement);
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

  LaneProgram run() {
    if (too_many_classes_) return std::move(program_);
    start_roots();
    while (true) {
      while (!ready_.empty()) {
        const uint32_t body = ready_.top().second;
        ready_.pop();
        advance(body);
      }
      if (unfinished_ == 0 || !relax()) break;
    }
    program_.possible = unfinished_ == 0;
    program_.slots = slots_.count();
    program_.hosts = hosts_.count();
    return std::move(program_);
  }

 private:
  using Queued = std::pair<int64_t, uint32_t>;
  using Queue = std::priority_queue<Queued, std::vector<Queued>, std::greater<>>;

  // Tasks that the same moves place are one class.
  void classify(std::span<const Move> moves) {
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
    inlines_.assign(program_.class_moves.size(), false);
    continues_.assign(program_.class_moves.size(), false);
    for (size_t i = 0; i < program_.class_moves.size(); ++i) {
      for (uint32_t move : program_.class_moves[i])
        (moves[move].placement == Placement::continuation ? continues_ : inlines_)[i] = true;
    }
  }

  bool has(uint32_t task, uint8_t flag) const { return dag_.task_flags[task] & flag; }
  bool is_task(uint32_t body) const { return body < tasks_; }
  bool may_move(uint32_t task) const { return class_[task] != 0 && !program_.refused[class_[task]]; }
  bool may_coordinate(uint32_t body) const { return is_task(body) && continues_[class_[body]] && actors_[body].moves; }

  // What the completion of `task` has to wait for; *cause: whether its time counts.
  void sources_of(uint32_t task, std::vector<uint32_t>& sources, bool* cause) const {
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

  bool has_sources(const Vertex& vertex) const {
    if (!has(vertex.id, kHasDependencies)) return false;
    return vertex.vertex_kind() == VertexKind::call ? !has(vertex.id, kHasSpawn) : !has(vertex.id, kHasBody);
  }

  void count_readers() {
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
        if (kind == VertexKind::block) ++linked_[vertex.id].readers;
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
      // Who hosts whom first hangs on the order in which they come: no lane of those is exact.
      if (coordinated[task] != 1) coordinator_[task] = kNone;
      outermost_[task] = outermost_[task] && spawned[task] && completes[task];
      if (!outermost_[task]) continue;
      ++program_.answered;
      ++available_[task].readers;
      ++completed_[task].readers;
    }
  }

  void start_roots() {
    for (uint32_t thread = 0; thread < dag_.roots.size(); ++thread) {
      const uint32_t body = tasks_ + thread;
      if (!dag_.bodies[body].called) continue;
      enter(body, false);
      LaneOp& op = emit(LaneOpCode::set, body);
      op.delay_ns = dag_.roots[thread].begin_ns;
      if (actors_[body].occupied) raise(op);
    }
  }

  // The body's own first use; its thread's outside it is `occupied`.
  void enter(uint32_t body, bool occupied) {
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

  int64_t recorded_ns(uint32_t body) const {
    const uint32_t at = actors_[body].at;
    if (at < dag_.bodies[body].end) return dag_.trace->time_ns[dag_.vertex_event[at]];
    if (is_task(body)) {
      const model::EventIndex end = dag_.trace->tasks[body].end;
      return end.valid() ? dag_.trace->time_ns[end.index()] : dag_.trace->end_ns();
    }
    return dag_.trace->time_ns[dag_.trace->thread_ranges[body - tasks_].end - 1];
  }

  void go_on(uint32_t body) {
    actors_[body].hold = Hold::nothing;
    ready_.emplace(recorded_ns(body), body);
  }

  bool hold(uint32_t body, Hold hold, uint32_t held_by) {
    actors_[body].hold = hold;
    actors_[body].held_by = held_by;
    if (hold == Hold::spawned || hold == Hold::coordinator) held_.emplace(recorded_ns(body), body);
    return false;
  }

  void advance(uint32_t body) {
    while (step(body)) {
      if (!ready_.empty() && ready_.top().first < recorded_ns(body)) {
        go_on(body);
        return;
      }
    }
  }

  // False: it cannot go on now, or has ended.
  bool step(uint32_t body) {
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
        return block(body, vertex);
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

  LaneOp& emit(LaneOpCode code, uint32_t body) {
    LaneOp& op = program_.ops.emplace_back(LaneOp{code});
    op.now = actors_[body].slot;
    op.host_moves = is_task(body) && actors_[body].moves ? class_[body] : 0;
    op.delay_ns = std::exchange(actors_[body].pending_ns, 0);
    return op;
  }

  LaneOp& emit(LaneOpCode code, uint32_t body, const Vertex& vertex) {
    LaneOp& op = emit(code, body);
    op.delay_ns += vertex.delay_ns;
    op.label_ns = vertex.label_ns;
    op.post_ns = vertex.post_ns;
    return op;
  }

  // A vertex that takes time on its own thread only, emitted if somebody looks.
  LaneOp& timed(uint32_t body, const Vertex& vertex) {
    LaneOp& op = emit(LaneOpCode::step, body, vertex);
    op.label_ns = op.post_ns = 0;
    use_range(body, op);
    return op;
  }

  // `op` makes `value` known. Nothing of `op` may be asked for afterwards.
  void write(Value& value, LaneOp& op, uint32_t body) {
    if (value.readers > 0) {
      value.slot = slots_.take();
      op.flags |= kWrites;
      op.result = value.slot;
    }
    value.known = true;
    drop_if_idle(op, body);
    wake(value);
  }

  // A step that nobody looks at is a plain delay.
  void drop_if_idle(const LaneOp& op, uint32_t body) {
    if (op.code != LaneOpCode::step || op.flags != 0) return;
    actors_[body].pending_ns += op.delay_ns;
    program_.ops.pop_back();
  }

  void read(Value& value) {
    if (--value.readers == 0) slots_.give_back(value.slot);
  }

  void wake(Value& value) {
    uint32_t body = std::exchange(value.waiters, kNone);
    while (body != kNone) {
      const uint32_t next = actors_[body].next;
      go_on(body);
      body = next;
    }
  }

  bool wait_until_known(uint32_t body, Value& value, Hold why, uint32_t id) {
    actors_[body].next = value.waiters;
    value.waiters = body;
    return hold(body, why, id);
  }

  void raise(LaneOp& op) {
    op.flags |= kRises;
    ++program_.changes_max;
  }
  void lower(LaneOp& op) {
    op.flags |= kFalls;
    ++program_.changes_max;
  }
  void occupy(Actor& actor, LaneOp& op) {
    if (!actor.occupied) raise(op);
    actor.occupied = true;
  }
  void vacate(Actor& actor, LaneOp& op) {
    if (actor.occupied) lower(op);
    actor.occupied = false;
  }

  // A plain thread counts from its first dealing with tasks to its last.
  void use_range(uint32_t body, LaneOp& op) {
    const Body& row = dag_.bodies[body];
    Actor& actor = actors_[body];
    if (row.state != BodyState::plain) return;
    if (actor.at == row.active_begin) occupy(actor, op);
    if (actor.at + 1 == row.active_end) vacate(actor, op);
  }

  void use_waiting(uint32_t body, LaneOp& op) {
    const Body& row = dag_.bodies[body];
    Actor& actor = actors_[body];
    const bool plain = row.state == BodyState::plain;
    const bool after = plain && actor.at + 1 == row.active_end ? false
                       : plain && actor.at == row.active_begin ? true
                                                               : actor.occupied;
    occupy(actor, op);
    if (!after) vacate(actor, op);
  }

  void leave_or_enter(uint32_t body, const Vertex& vertex) {
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

  bool spawn(uint32_t body, const Vertex& vertex) {
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

  void respond(uint32_t task) {
    if (!outermost_[task] || !available_[task].known || !completed_[task].known) return;
    LaneOp& op = program_.ops.emplace_back(LaneOp{LaneOpCode::response});
    op.cause = completed_[task].slot;
    op.result = available_[task].slot;
    read(available_[task]);
    read(completed_[task]);
  }

  // The latencies of a call or wait that the recording does not show are assumed.
  void assume(LaneOp& op, const Vertex& vertex, int64_t label_ns, int64_t post_ns) const {
    if (vertex.assumed_label) op.label_ns = label_ns;
    if (vertex.assumed_post) op.post_ns = post_ns;
  }

  // Whether all that `vertex` depends on is known; if so, where the latest time of it is, or kNone.
  bool causes_known(uint32_t body, const Vertex& vertex, uint32_t* slot) {
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

  bool call(uint32_t body, const Vertex& vertex) {
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
    ++actor.at;
    called.caller = body;
    enter(task, actor.occupied);
    hold(body, Hold::callee, task);
    LaneOp& emitted = program_.ops[at];
    emitted.callee = called.slot;
    emitted.moves = called.moves ? class_[task] : 0;
    if (called.occupied && !actor.occupied) emitted.flags |= kCalleeRises;
    if (called.moves) {
      emitted.spawner = actors_[called.spawner].slot;
      if (!actors_[called.spawner].occupied) emitted.flags |= kSpawnerRises;
    }
    if (emitted.flags & (kCalleeRises | kSpawnerRises)) ++program_.changes_max;
    if (!called.moves) return false;
    if (!continues_[class_[task]]) return false;
    called.host = hosts_.take();
    LaneOp& host = program_.ops.emplace_back(LaneOp{LaneOpCode::host});
    host.host = called.host;
    host.spawner = actors_[called.spawner].slot;
    host.flags = program_.ops[at].flags & kSpawnerRises;
    host.label_ns = dag_.spawn_cost_ns[task];
    return false;
  }

  bool complete(uint32_t body, const Vertex& vertex) {
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

  // Whether the thread that has completed `task` has to see first whether it hosts what a coordinator does then.
  bool stand(uint32_t body, uint32_t task) {
    const uint32_t coordinator = coordinator_[task];
    if (coordinator == kNone || coordinator == body || !may_move_or_moves(coordinator)) return false;
    if (coordinator == actors_[body].spawner) return_inlined(body);
    stander_[task] = body;
    hold(body, Hold::coordinator, task);
    return true;
  }

  // The coordinator has spawned the very task that would host it, and some lanes ran that in its midst: those go on.
  void return_inlined(uint32_t body) {
    Actor& actor = actors_[body];
    if (!actor.holds_spawner || continues_[class_[body]] || actor.at != dag_.bodies[body].end) return;
    LaneOp& op = emit(LaneOpCode::end_moved, body);
    actor.pending_ns = op.delay_ns;  // of the lanes that are still to end
    op.delay_ns += actor.ended ? 0 : dag_.bodies[body].end_delay_ns;
    fill_end(body, op);
    op.flags |= kInlinedOnly;
    actor.holds_spawner = false;
    actor.inlined_ended = true;
    go_on(actor.spawner);
  }

  bool may_move_or_moves(uint32_t body) const {
    return may_move(body) && (actors_[body].slot == kNone || may_coordinate(body));
  }

  void let_hosts_go(uint32_t coordinator) {
    auto found = hosted_by_.find(coordinator);
    if (found == hosted_by_.end()) return;
    for (uint32_t stander : found->second) go_on(stander);
    hosted_by_.erase(found);
  }

  bool wait(uint32_t body, const Vertex& vertex) {
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
      if (host != kNone) go_on(host);
    } else {
      LaneOp& op = emit(actor.parked ? LaneOpCode::resume : LaneOpCode::wait_moved, body, vertex);
      fill_wait(op, vertex, value);
      op.host = actor.host;
      if (host == kNone) {
        op.flags |= kUnhosted;
      } else {
        op.callee = actors_[host].slot;
        op.flags |= actors_[host].occupied ? 0 : kSlotFree;
        hosted_by_[body].push_back(host);
        program_.changes_max += 2;
      }
      actor.parked = false;
    }
    read(value);
    ++actor.at;
    return true;
  }

  void fill_wait(LaneOp& op, const Vertex& vertex, const Value& value) const {
    assume(op, vertex, dag_.typical.wait_label_ns, dag_.typical.wait_post_ns);
    op.cause = value.slot;
    op.flags |= kWaits;
  }

  bool block(uint32_t body, const Vertex& vertex) {
    Value& value = linked_[vertex.id];
    if (!value.known) return wait_until_known(body, value, Hold::linked, vertex.id);
    LaneOp& op = emit(LaneOpCode::wait, body, vertex);
    assume(op, vertex, dag_.typical.block_label_ns, dag_.typical.block_post_ns);
    op.cause = value.slot;
    use_range(body, op);
    read(value);
    ++actors_[body].at;
    return true;
  }

  bool end(uint32_t body) {
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

  // `after_ns` later; `completes`: its result is there before that.
  bool end_with(uint32_t body, int64_t after_ns, bool completes) {
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

  void fill_end(uint32_t body, LaneOp& op) {
    const Actor& actor = actors_[body];
    const bool pins = is_task(body) ? !has(body, kIsThread) : bool{dag_.roots[body - tasks_].pins_the_end};
    if (pins) op.flags |= kPinsTheEnd;
    op.callee = actor.caller == kNone ? kNone : actors_[actor.caller].slot;
    if (actor.moves) {
      op.moves = class_[body];
      op.spawner = actors_[actor.spawner].slot;
      op.label_ns = dag_.spawn_cost_ns[body];
      op.host = actor.host == kNone ? 0 : actor.host;
      op.flags |= actor.caller_free ? kCalleeRises : 0;
      op.flags |= actors_[actor.spawner].occupied ? 0 : kSpawnerRises;
      ++program_.changes_max;
    } else if (actor.occupied && actor.caller_free) {
      lower(op);
    } else if (!actor.occupied && !actor.caller_free) {
      raise(op);
    }
  }

  // The body has ended: whoever it held goes on.
  void leave(uint32_t body) {
    Actor& actor = actors_[body];
    if (actor.host != kNone) {
      hosts_.give_back(actor.host);
      let_hosts_go(body);
    }
    if (actor.moves && actor.holds_spawner) go_on(actor.spawner);
    if (actor.caller != kNone) go_on(actor.caller);
    slots_.give_back(actor.slot);
    --unfinished_;
  }

  // Nothing can go on: bodies wait for each other in a circle, which is broken where that costs least. False: it cannot
  // be.
  bool relax() {
    const uint32_t first = first_held();
    if (first == kNone) return false;
    std::vector<uint32_t> circle;
    std::unordered_map<uint32_t, size_t> seen;
    uint32_t body = first;
    while (body != kNone && seen.emplace(body, circle.size()).second) {
      circle.push_back(body);
      body = waits_for(body);
    }
    if (body == kNone) return false;
    circle.erase(circle.begin(), circle.begin() + static_cast<ptrdiff_t>(seen[body]));
    for (uint32_t each : circle) {
      if (park(each)) return true;
    }
    for (uint32_t each : circle) {
      if (stop_standing(each)) return true;
    }
    for (uint32_t each : circle) {
      if (refuse(each)) return true;
    }
    for (uint32_t each : circle) {
      if (refuse_hosted(each)) return true;
    }
    return false;
  }

  // The earliest body of those that only what lanes may do holds up.
  uint32_t first_held() {
    while (!held_.empty()) {
      const auto [time_ns, body] = held_.top();
      const Hold why = actors_[body].hold;
      if ((why == Hold::spawned || why == Hold::coordinator) && recorded_ns(body) == time_ns) return body;
      held_.pop();
    }
    return kNone;
  }

  // The body that has to go on for `body` to; kNone: it is not known.
  uint32_t waits_for(uint32_t body) {
    index_places();
    const Actor& actor = actors_[body];
    switch (actor.hold) {
      case Hold::nothing:
        return kNone;
      case Hold::available:
        return running(spawned_in_[actor.held_by]);
      case Hold::completed:
        return running(completed_in_[actor.held_by]);
      case Hold::linked:
        return running(woken_in_[actor.held_by]);
      case Hold::callee:
      case Hold::spawned:
        return running(actor.held_by);
      case Hold::coordinator:
        return running(coordinator_[actor.held_by]);
    }
    return kNone;
  }

  // `body`, or the one that has to call it first.
  uint32_t running(uint32_t body) const {
    while (body != kNone && actors_[body].slot == kNone) body = is_task(body) ? called_in_[body] : kNone;
    return body;
  }

  // Which body holds which vertex. Made when first needed.
  void index_places() {
    if (!spawned_in_.empty()) return;
    spawned_in_.assign(tasks_, kNone);
    called_in_.assign(tasks_, kNone);
    completed_in_.assign(tasks_, kNone);
    woken_in_.assign(dag_.link_count, kNone);
    for (uint32_t task = 0; task < tasks_; ++task) completed_in_[task] = task;
    for (uint32_t body = 0; body < dag_.bodies.size(); ++body) {
      for (uint32_t at = dag_.bodies[body].begin; at < dag_.bodies[body].end; ++at) {
        const Vertex& vertex = dag_.vertices[at];
        if (vertex.vertex_kind() == VertexKind::spawn) spawned_in_[vertex.id] = body;
        if (vertex.vertex_kind() == VertexKind::call) called_in_[vertex.id] = body;
        if (vertex.vertex_kind() == VertexKind::complete) completed_in_[vertex.id] = body;
        if (vertex.vertex_kind() == VertexKind::wake) woken_in_[vertex.id] = body;
      }
    }
  }

  // A coordinator that waits gives its threads back now: the result cannot be there before they go on.
  bool park(uint32_t body) {
    Actor& actor = actors_[body];
    if (actor.hold != Hold::completed || actor.parked || !may_coordinate(body)) return false;
    const Vertex& vertex = dag_.vertices[actor.at];
    const bool frees_spawner = actor.holds_spawner && !inlines_[class_[body]];
    if (vertex.vertex_kind() != VertexKind::wait || (!frees_spawner && !hosted_by_.contains(body))) return false;
    actor.parked = true;
    LaneOp& op = emit(LaneOpCode::park, body, vertex);
    op.host = actor.host;
    actor.pending_ns = op.delay_ns - vertex.delay_ns;  // of the lanes that wait
    program_.changes_max += 2;
    let_hosts_go(body);
    if (frees_spawner) free_spawner(actor);
    return true;
  }

  void free_spawner(Actor& actor) {
    actor.holds_spawner = false;
    go_on(actor.spawner);
  }

  // A thread goes on, though the coordinator that it would host has not come yet.
  bool stop_standing(uint32_t body) {
    const Actor& actor = actors_[body];
    if (actor.hold != Hold::coordinator || stander_[actor.held_by] != body) return false;
    stander_[actor.held_by] = kNone;
    go_on(body);
    return true;
  }

  // The same for a coordinator that some lanes run on this thread, which waits for it.
  bool refuse_hosted(uint32_t body) {
    const Actor& actor = actors_[body];
    if (actor.hold != Hold::coordinator) return false;
    const uint32_t coordinator = coordinator_[actor.held_by];
    program_.refused[class_[coordinator]] = true;
    let_hosts_go(coordinator);
    return true;
  }

  // No lane that moves tasks of this class is exact; to the others, this one is like any other.
  bool refuse(uint32_t body) {
    const Actor& actor = actors_[body];
    if (actor.hold != Hold::spawned) return false;
    program_.refused[class_[actor.held_by]] = true;
    free_spawner(actors_[actor.held_by]);
    return true;
  }

  const TraceDag& dag_;
  const uint32_t tasks_;
  LaneProgram program_;
  std::vector<Actor> actors_;
  std::vector<uint16_t> class_;
  std::vector<bool> inlines_, continues_;  // by class
  std::vector<bool> outermost_;
  std::vector<Value> available_, completed_, linked_;
  std::vector<uint32_t> coordinator_;  // by task: the only body that may wait for it as a coordinator
  std::vector<uint32_t> stander_;      // by task: the body that has completed it and waits for its coordinator
  std::unordered_map<uint32_t, std::vector<uint32_t>> hosted_by_;  // by coordinator: bodies that stand while it runs
  std::vector<uint32_t> sources_;
  Queue ready_;
  Queue held_;                                                   // bodies that what lanes may do holds up
  std::vector<uint32_t> spawned_in_, called_in_, completed_in_;  // by task: bodies
  std::vector<uint32_t> woken_in_;                               // by link
  SlotPool slots_, hosts_;
  size_t unfinished_ = 0;
  bool too_many_classes_ = false;
};

}  // namespace

LaneProgram compile_lanes(const TraceDag& dag, std::span<const Move> moves, std::span<const TaskId> outermost) {
  return LaneCompiler(dag, moves, outermost).run();
}

}  // namespace contrafact::graph
