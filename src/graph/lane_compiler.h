// The compiler of lane programs: the common order of all variants, found by running the DAG once without times. Private
// to lanes_compile*.cc. Not thread-safe; of one use.
//
// Every body runs until it needs something, in any variant, that has not run yet. Of the bodies that can go on, those
// that did so first in the recording go first, by windows of time; within a window, they go by their number, which
// keeps related bodies together.
//
// Where nothing can go on, the variants' needs contradict each other: lanes_compile_relax.cc.
#pragma once

#include <map>
#include <queue>
#include <unordered_map>
#include <utility>
#include <vector>

#include "graph/lanes.h"
#include "graph/loop_places.h"
#include "graph/none.h"

namespace contrafact::graph {

// A time that others ask for: its slot, and how many will ask.
struct Value {
  uint32_t slot = kNone;
  uint32_t readers = 0;
  uint32_t waiters = kNone;  // bodies that cannot go on before it is known
  bool known = false;
};

// Why a body cannot go on: what has to happen first.
enum class Hold : uint8_t {
  nothing,
  available,    // task `held_by` is spawned
  completed,    // task `held_by` completes
  linked,       // wake-up `held_by`
  callee,       // task `held_by`, which runs here, ends
  spawned,      // task `held_by`, which some lanes run here, ends
  coordinator,  // the coordinator of task `held_by`, whose next part may run here, leaves
};

// A thread that goes on before its time is known.
struct Fork {
  uint32_t loop = kNone;
  uint32_t body = kNone;  // that forked
  uint32_t slot = kNone;  // its time at the fork; then the time at which the task that some lanes run here left it
  bool occupied = false;  // at the fork
};

struct Actor {  // a body on its way
  uint32_t at = 0;
  uint32_t slot = kNone;
  uint32_t host = kNone;    // a coordinator's slot of hosts
  uint32_t caller = kNone;  // bodies that go on after it
  uint32_t spawner = kNone;
  uint32_t next = kNone;   // in a list of waiters
  int64_t pending_ns = 0;  // delay of vertices whose times are not asked for
  Hold hold = Hold::nothing;
  uint32_t held_by = kNone;
  bool occupied = false;     // its thread, at this place
  bool caller_free = false;  // its caller's thread is not occupied around it
  bool moves = false;        // called as one that some lanes move
  bool ended = false;
  bool holds_spawner = false;
  bool inlined_ended = false;  // in the lanes that inline it
  Fork spawner_fork;           // if its spawner has forked
  uint32_t detached = kNone;   // slot: the lanes in which it runs on a thread of its own
};

// A body that has forked goes no further than another one needs.
struct Ahead {
  Hold hold;  // the reason why it would wait
  uint32_t held_by;
  const Value* wanted;  // null: its end
};

class LaneCompiler {
 public:
  LaneCompiler(const TraceDag& dag, std::span<const Move> moves, std::span<const TaskId> outermost,
               size_t runner_bytes_max);

  // The program, with as many lanes as `runner_bytes_max` has room for. It is not `possible` if there is no room.
  LaneProgram run();

 private:
  using Queued = std::pair<int64_t, uint32_t>;
  using Queue = std::priority_queue<Queued, std::vector<Queued>, std::greater<>>;

  static constexpr size_t kLanesLeast = 4;  // fewer are hardly faster than one run after the other
  bool has_room_for(size_t lanes) const;

  // The input of the compiler (lanes_compile.cc).
  // Tasks that the same moves place are one class.
  void classify(std::span<const Move> moves);
  bool has(uint32_t task, uint8_t flag) const { return dag_.task_flags[task] & flag; }
  bool is_task(uint32_t body) const { return body < tasks_; }
  bool may_move(uint32_t task) const { return class_[task] != 0 && !program_.refused[class_[task]]; }
  bool may_coordinate(uint32_t body) const { return is_task(body) && continues_[class_[body]] && actors_[body].moves; }
  // The sources that the completion of `task` has to wait for; *cause: whether their time counts.
  void sources_of(uint32_t task, std::vector<uint32_t>& sources, bool* cause) const;
  bool has_sources(const Vertex& vertex) const;
  void count_readers();

  // Bodies on their way.
  void start_roots();
  // Begins the body. `occupied`: whether its thread is occupied outside of it.
  void enter(uint32_t body, bool occupied);
  int64_t recorded_ns(uint32_t body) const;
  int64_t window_of(uint32_t body) const;
  void go_on(uint32_t body);
  bool hold(uint32_t body, Hold hold, uint32_t held_by);
  void advance(uint32_t body);

  // One vertex of a body (lanes_compile_steps.cc). False: it cannot go on now, or has ended.
  bool step(uint32_t body);

  // Operations, and the times that others ask for.
  LaneOp& emit(LaneOpCode code, uint32_t body);
  LaneOp& emit(LaneOpCode code, uint32_t body, const Vertex& vertex);
  // A vertex that takes time on its own thread only; emitted if its time is asked for.
  LaneOp& timed(uint32_t body, const Vertex& vertex);
  // `op` makes `value` known. Nothing of `op` may be asked for afterwards.
  void write(Value& value, LaneOp& op, uint32_t body);
  // A step whose time is not asked for is a plain delay.
  void drop_if_idle(const LaneOp& op, uint32_t body);
  void read(Value& value);
  void wake(Value& value);
  bool wait_until_known(uint32_t body, Value& value, Hold why, uint32_t id);
  void raise(LaneOp& op);
  void lower(LaneOp& op);
  void occupy(Actor& actor, LaneOp& op);
  void vacate(Actor& actor, LaneOp& op);
  // A plain thread counts from its first dealing with tasks to its last.
  void use_range(uint32_t body, LaneOp& op);
  void use_waiting(uint32_t body, LaneOp& op);
  void leave_or_enter(uint32_t body, const Vertex& vertex);
  bool spawn(uint32_t body, const Vertex& vertex);
  void respond(uint32_t task);
  // Marks the latencies of a call or wait that the recording does not show as assumed.
  void assume(LaneOp& op, const Vertex& vertex, int64_t label_ns, int64_t post_ns) const;
  // Whether all causes of `vertex` are known; if so, *slot is the slot of the latest, or kNone.
  bool causes_known(uint32_t body, const Vertex& vertex, uint32_t* slot);
  bool call(uint32_t body, const Vertex& vertex);
  void may_detach(uint32_t task, LaneOp& call);
  bool complete(uint32_t body, const Vertex& vertex);
  // Whether the thread that has completed `task` first has to find out whether it hosts the next part of a coordinator.
  bool stand(uint32_t body, uint32_t task);
  // The coordinator has spawned the very task that would host it, and some lanes ran that task inside the coordinator:
  // those lanes go on.
  void return_inlined(uint32_t body);
  bool may_still_coordinate(uint32_t body) const;
  void let_host_go(uint32_t body, uint32_t task);
  void let_hosts_go(uint32_t coordinator);
  bool wait(uint32_t body, const Vertex& vertex);
  void fill_wait(LaneOp& op, const Vertex& vertex, const Value& value) const;
  bool block(uint32_t body, const Vertex& vertex, LaneOpCode code);
  bool end(uint32_t body);
  // The body ends `after_ns` later. `completes`: its result is there before that.
  bool end_with(uint32_t body, int64_t after_ns, bool completes);
  void fill_end(uint32_t body, LaneOp& op);
  // The body has ended: the bodies that it held up go on.
  void leave(uint32_t body);

  // Circles (lanes_compile_relax.cc).
  // Nothing can go on: bodies wait for each other in a circle. Breaks it where that costs least; false if it cannot be
  // broken.
  bool relax();
  // The earliest of the bodies that are held up only by what some lanes may do.
  uint32_t first_held();
  // The body that has to go on before `body` can; kNone: it is not known.
  uint32_t waits_for(uint32_t body);
  // `body`, or the one that has to call it first.
  uint32_t running(uint32_t body) const;
  // Which body contains which vertex. Made when first needed.
  void index_places();
  void free_spawner(uint32_t task);
  // A thread goes on, as far as `follower` needs, before the task that some lanes run on it has ended.
  bool fork_spawner(uint32_t body, uint32_t follower);
  // The same for a thread that hosts a coordinator, or would.
  bool fork_host(uint32_t body, uint32_t follower);
  uint32_t spawner_slot(const Actor& task) const {
    return task.spawner_fork.loop == kNone ? actors_[task.spawner].slot : task.spawner_fork.slot;
  }
  bool spawner_occupied(const Actor& task) const {
    return task.spawner_fork.loop == kNone ? actors_[task.spawner].occupied : task.spawner_fork.occupied;
  }
  bool too_many_loops() const;
  void refuse_coordinators(uint16_t moves);
  void close_refused();
  void go_ahead(uint32_t body, uint32_t follower);
  bool far_enough(uint32_t body);
  const Value* wanted_by(uint32_t body) const;
  // No lane that moves tasks of this class is exact; in the other lanes, this body is like any other.
  bool refuse(uint32_t body);

  // Loops (lanes_compile_loops.cc).
  Fork open_loop(uint32_t body, uint16_t moves, uint16_t flags);
  void close_loop(const Fork& fork);
  void find_written();

  const TraceDag& dag_;
  const uint32_t tasks_;
  const size_t runner_bytes_max_;
  LaneProgram program_;
  std::vector<Actor> actors_;
  std::vector<uint16_t> class_;
  std::vector<bool> inlines_, continues_;  // by class: how some lanes place its tasks, unless refused
  std::vector<bool> outermost_;
  std::vector<Value> available_, completed_, linked_;
  std::vector<uint32_t> coordinator_;  // by task: the only body that may wait for it as a coordinator
  std::vector<uint32_t> stander_;      // by task: the body that has completed it and waits for its coordinator
  // By coordinator: bodies that stand while it runs, and the tasks that they completed.
  std::unordered_map<uint32_t, std::vector<std::pair<uint32_t, uint32_t>>> hosted_by_;
  std::unordered_map<uint32_t, Fork> host_forks_;  // by the task completed
  std::vector<uint32_t> sources_;
  int64_t window_ns_ = 1;
  Queue ready_;                                                  // by window
  Queue held_;                                                   // bodies held up by what some lanes may do
  std::vector<uint32_t> spawned_in_, called_in_, completed_in_;  // by task: bodies
  std::vector<uint32_t> woken_in_;                               // by link
  std::unordered_map<uint32_t, std::vector<Ahead>> ahead_;       // by body
  SlotPool slots_, hosts_;
  size_t unfinished_ = 0;
  PlaceKeeper loop_places_;
  size_t open_loops_ = 0;
  bool too_many_classes_ = false;
};
}  // namespace contrafact::graph
