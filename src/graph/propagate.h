// Propagation: computes the time of every vertex of a trace-DAG (equation 3), with each task's body placed where a
// variant of the program would run it. One pass, in an order found on the way: every thread runs until it needs a time
// that is not computed yet, and goes on when it is. Linear in the vertices.
//
// Fixed assignment, as in the paper: a task that does not move keeps its worker, and workers keep the order of their
// tasks; a worker sleeps until its next task is spawned, which is equation 4. A moved task may make the recorded order
// impossible: the worker's next task is spawned only after a task behind it in the queue has run. Then the worker takes
// the task that is there, as a queue would; `reordered` counts these cases. The same for a lock that threads waited for:
// whoever waited does so until the section before it is over, no longer than recorded, and not at all where that section
// can only come later.
//
// A Propagator is reusable and not thread-safe: make one for each thread of the caller. Deterministic.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <queue>
#include <span>
#include <utility>
#include <vector>

#include "base/saturating.h"
#include "graph/trace_dag.h"

namespace contrafact::graph {

enum class Placement : uint8_t {
  own_thread,    // as recorded
  at_spawn,      // on the spawning thread, at the spawn (equations 1 and 2)
  continuation,  // the same until its first wait; then each part runs where and when the task waited for completes
  at_wait,       // on the thread that waits for it, at the first wait: it is not handed out
};

// What a thread is doing, for the counts.
enum class Use : uint8_t { none, active, waiting };

// One thread's change of use, packed for the sake of the variants that make millions of them.
struct UseChange {
  int64_t packed;  // time_ns * 16 + from * 4 + to

  static UseChange at(int64_t time_ns, Use from, Use to) {
    // kUnborn does not fit: a time before everything stays before everything.
    const int64_t shifted = base::multiply_saturated(time_ns, 16) & ~int64_t{15};
    return {shifted | static_cast<int64_t>(from) * 4 | static_cast<int64_t>(to)};
  }
  int64_t time_ns() const { return packed >> 4; }
  Use from() const { return static_cast<Use>(packed >> 2 & 3); }
  Use to() const { return static_cast<Use>(packed & 3); }
};

// Why a body could not be run to its end.
struct Stuck {
  TaskId task;       // none: a thread outside tasks
  TaskId waits_for;  // none: for a wake-up
};

// The order in which one thread runs vertices, for restore.h.
struct Step {
  enum class Kind : uint8_t {
    vertex,        // at `time_ns`, asked for at `ready_ns`
    skipped_call,  // the body runs elsewhere
    body_begin,    // index: body
    body_end,
    segment_end,    // a continuation leaves this thread at the wait `index` ...
    segment_begin,  // ... and goes on here
    asked,          // the thread comes to the wait `index`, and runs there what it asks for
  };
  Kind kind;
  uint32_t index;
  int64_t ready_ns, time_ns;
};

struct PropagateOptions {
  const Latencies* latencies = nullptr;  // null: the typical ones
  bool changes = false;                  // fill `changes`
  bool steps = false;                    // fill `steps`
  uint64_t visits_max = UINT64_MAX;      // gives up when finding a possible order has taken more
};

struct Propagated {
  int64_t end_ns = kNever;  // of the last task, or of the last thread that pins the end
  int64_t active_ns = 0;    // summed over threads
  int64_t waiting_ns = 0;
  uint32_t reordered = 0;
  uint32_t detached = 0;  // continuations and joins that no recorded thread could host
  bool assumes = false;   // true if it uses latencies that differ in TraceDag::low and high
  uint64_t visits = 0;    // the work done: vertices run, and a sixteenth of those looked at in queues
  bool gave_up = false;   // options.visits_max was reached: nothing else holds
  std::vector<Stuck> stuck;
  std::vector<UseChange> changes;        // unordered
  std::vector<std::vector<Step>> steps;  // by thread; further rows for detached parts
};

class Propagator {
 public:
  explicit Propagator(const TraceDag& dag);

  // `placements` by task; empty: all stay. REQUIRES: all moved tasks have a spawn and a body; those moved to a wait
  // have a spawner that waits for them (model::Asker::spawner). The result is valid until the next run.
  const Propagated& run(std::span<const Placement> placements, const PropagateOptions& options = {});

  // The latest run's result, for a caller that then destroys the propagator.
  Propagated take_result() && { return std::move(result_); }

  // Times of the latest run; kNever for an event that did not happen.
  int64_t available_ns(TaskId task) const { return available_[task.index()]; }
  int64_t completed_ns(TaskId task) const { return completed_[task.index()]; }

 private:
  struct Frame {
    uint32_t body;
    uint32_t at, end;
    int64_t credit_ns;  // taken off the next delay: the hand-over that an inlined task does not need
    Use outer;          // the thread's use outside this body
    bool ended = false;
    bool asked = false;  // the delay before `at` is over: the task waited for ran here
  };
  enum class Wait : uint8_t { nothing, spawn, completion, link, coordinator };
  struct Strand {
    std::vector<Frame> frames;
    int64_t now_ns = 0;
    int64_t since_ns = 0;
    Use use = Use::none;
    uint32_t thread = 0;
    uint32_t detached_vertex = UINT32_MAX;  // a call or completion to begin with
    Wait wait = Wait::nothing;
    uint32_t wait_id = 0;
    uint32_t next = UINT32_MAX;  // in the list of strands that wait for the same thing
    bool soft = false;           // may be released when nothing else can go on
    bool released = false;
    bool finished = false;
  };
  using Soft = std::pair<int64_t, uint32_t>;  // a strand that may be released: its time, and which
  using EarliestFirst = std::priority_queue<Soft, std::vector<Soft>, std::greater<>>;
  struct Parked {
    Frame frame;
    int64_t ready_ns;
    uint32_t next;
  };

  void reset(std::span<const Placement> placements, const PropagateOptions& options);
  void count_coordinator_waits();
  void start_roots();
  uint32_t new_strand(uint32_t thread, int64_t now_ns);
  void advance(uint32_t strand);
  bool begin_detached(Strand& strand);
  bool step(Strand& strand, Frame& frame, const Vertex& vertex);
  void look_ahead(const Vertex& next) const;
  bool step_spawn(Strand& strand, Frame& frame, const Vertex& vertex);
  bool step_call(Strand& strand, Frame& frame, const Vertex& vertex);
  void skip_call(Strand& strand, Frame& frame, int64_t ready_ns);
  bool inside_task(const Frame& frame) const;
  bool step_complete(Strand& strand, Frame& frame, const Vertex& vertex);
  bool step_wait(Strand& strand, Frame& frame, const Vertex& vertex);
  void run_at_wait(Strand& strand, Frame& frame, uint32_t task, int64_t ready_ns);
  bool step_block(Strand& strand, Frame& frame, const Vertex& vertex);
  bool step_acquire(Strand& strand, Frame& frame, const Vertex& vertex);
  bool step_coordinator_wait(Strand& strand, Frame& frame, const Vertex& vertex, int64_t ready_ns);
  void use_plain_range(Strand& strand, const Frame& frame, int64_t ready_ns, int64_t time_ns);
  void advance_to(Strand& strand, Frame& frame, int64_t ready_ns, int64_t time_ns);
  void sleep_until(Strand& strand, Frame& frame, int64_t ready_ns, int64_t time_ns);
  void enter_body(Strand& strand, uint32_t body, int64_t time_ns);
  bool end_body(Strand& strand);
  bool complete(Strand& strand, uint32_t task, int64_t time_ns);
  bool host_parked(Strand& strand, uint32_t task);
  void detach(uint32_t vertex);
  void detach_parked(const Parked& parked, int64_t time_ns);
  int64_t dependencies_ns(uint32_t task, uint32_t* missing) const;
  int64_t call_time(const Vertex& vertex, int64_t ready_ns, int64_t cause_ns);
  int64_t assumed_ns(int64_t Latencies::* kind);
  bool suspend(Strand& strand, Wait wait, uint32_t id, bool soft);
  void wake_all(uint32_t& head);
  void unlink(uint32_t strand);
  uint32_t& list_of(Wait wait, uint32_t id);
  bool release_one();
  bool release_soft();
  bool release_lock();
  bool release_earliest(EarliestFirst& strands);
  bool run_early(uint32_t window);
  bool run_elsewhere();
  void report_stuck();
  void set_use(Strand& strand, int64_t time_ns, Use use);
  void log(const Strand& strand, Step::Kind kind, uint32_t index, int64_t ready_ns, int64_t time_ns);
  bool continued(uint32_t body) const {
    return any_continuation_ && body < placements_.size() && placements_[body] == Placement::continuation;
  }
  bool runs_at_wait(uint32_t task) const { return !placements_.empty() && placements_[task] == Placement::at_wait; }
  // True if it runs on the thread that handed it out, where it is spawned or where it is waited for.
  bool called(uint32_t body) const {
    return body < placements_.size() &&
           (placements_[body] == Placement::at_spawn || placements_[body] == Placement::at_wait);
  }
  bool has(uint32_t task, uint8_t flag) const { return dag_.task_flags[task] & flag; }

  const TraceDag& dag_;
  const Latencies* latencies_ = nullptr;
  std::span<const Placement> placements_;
  PropagateOptions options_;
  Propagated result_;
  std::deque<Strand> strands_;
  size_t strand_count_ = 0;
  uint32_t current_ = 0;  // the strand that `advance` runs
  std::vector<uint32_t> ready_;
  EarliestFirst soft_, at_locks_;
  std::vector<int64_t> available_, completed_, linked_;
  std::vector<uint32_t> spawn_list_, completion_list_, link_list_;
  std::vector<uint8_t> ran_;           // by task: its body has begun
  std::vector<uint32_t> call_vertex_;  // by task; made when first needed
  std::vector<uint32_t> expected_;     // by task: coordinators that will wait for it and have not come there yet
  std::vector<uint32_t> parked_list_;  // by task: parts of coordinators that go on when it completes
  std::vector<uint32_t> host_;         // by task: the strand that stands at its completion and waits for coordinators
  std::vector<Parked> parked_;
  bool any_continuation_ = false;
};

}  // namespace contrafact::graph
