// Many variants of one run propagated together, each in a lane of a vector. propagate.h computes the same one after the
// other.
//
// A variant is a set of *moves*: tasks that run elsewhere than recorded. All moves that a search may make are compiled
// once into a program: the DAG's vertices in one order that suits every variant. In it, a task comes after its spawn
// and after its worker is free for it, and before either goes on. Vertices that no move changes and whose times are not
// asked for become plain delay. Running the program is one pass over it, without queues: the greatest of each vertex's
// causes, and for each lane a mask that says which moves it makes.
//
// Where variants need orders that contradict each other, a thread forks. In some lanes, a task that comes later in the
// order runs on this thread: in these lanes, the thread goes on before its time is known. At the join the time is
// known, and the operations between fork and join run again, until nothing changes. An unknown time is later than all
// others, and so is every result computed from it. Hence known times are final. A loop runs once more than there are
// tasks in it that hold each other up.
//
// Times are exactly Propagator's. Some variants have no place in the common order, or need what only a Propagator does
// (tasks that leave their worker's order, stages that no recorded thread can run, tasks that run where they are waited
// for). Their lanes have `exact` = false, and these variants are to be propagated one by one. So are those of coordinators
// where threads waited for locks: who goes first is then decided at both. Example: some lanes run a
// task at its wait. In these lanes, the task has to come after all earlier work of its spawner; in the other lanes,
// before the work that waits for its worker. Wherever some of that work is waited for first, these orders contradict
// each other.
//
// A LaneProgram is immutable and may be shared between threads; a LaneRunner belongs to one. Deterministic.
#pragma once

#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "base/column.h"
#include "graph/lane_peaks.h"
#include "graph/propagate.h"

namespace contrafact::graph {

// Tasks that a variant may place elsewhere, all in the same way.
struct Move {
  std::span<const TaskId> tasks;
  Placement placement = Placement::at_spawn;
};

enum class LaneOpCode : uint8_t {
  set,         // a thread begins
  step,        // takes time on its own thread
  sleep,       // of fixed length
  wait,        // for a cause: a result or a wake-up
  acquire,     // of a lock: for its release, at most label_ns
  call,        // of a task that stays
  call_moved,  // of a task that some lanes run at its spawn
  host,        // where such a task runs at first, if some lanes make it a coordinator
  end,         // of a body that stays
  end_moved,
  wait_moved,   // by a task that some lanes make a coordinator
  first_cause,  // of several
  next_cause,
  complete,  // with causes
  response,  // adds up an outermost task's time
  fork,      // a thread goes on before its time is known, in the lanes that a task of `moves` holds up
  join,      // now the time is known: the lanes that were wrong about it go back to the fork
};

// One operation. Slots hold one time for each lane.
template <typename Slot, typename Time>
struct BasicLaneOp {
  static constexpr Slot kNone = std::numeric_limits<Slot>::max();
  LaneOpCode code;
  uint8_t unused = 0;
  uint16_t flags = 0;       // LaneFlag
  uint16_t moves = 0;       // class of the task called or ended
  uint16_t host_moves = 0;  // class of the body that this is part of
  Slot now = 0;             // slot: time of the thread
  Slot cause = 0;           // slot; of a thread that begins: its number
  Slot result = 0;          // slot: the time that others wait for
  Slot callee = 0;          // slot: time of the task called, or of the thread that hosts what follows
  Slot spawner = 0;         // slot: time of the thread that spawned
  Slot host = 0;            // slot of hosts
  Time delay_ns = 0, label_ns = 0, post_ns = 0;  // as in Vertex; label_ns of a spawn: its delay; of an end: hand-out,
                                                 // and post_ns how long before it the task completed
};
using LaneOp = BasicLaneOp<uint32_t, int64_t>;
using NarrowLaneOp = BasicLaneOp<uint16_t, int32_t>;
static_assert(sizeof(LaneOp) == 56 && sizeof(NarrowLaneOp) == 32);

enum LaneFlag : uint16_t {
  kRises = 1,          // the thread counts as occupied from the vertex's ready time
  kFalls = 2,          // and no more from its time
  kCaused = 4,         // has a cause
  kWaits = 8,          // counts as waiting in between
  kWrites = 16,        // `result`
  kAtOnce = 32,        // the thread does not sleep here: in lanes where it would have to, the task called runs on a
                       // thread of its own, and slot `result` (of its end: `cause`) says which they are
  kCoordinated = 64,   // the same in the lanes that make the body a coordinator
  kCalleeRises = 128,  // the thread is not occupied around the body called or ended
  kSpawnerRises = 256,
  kPinsTheEnd = 512,
  kUnhosted = 1024,          // no thread stands ready to run what follows the wait
  kSlotFree = 2048,          // the host is not occupied by itself
  kInlinedOnly = 4096,       // an end in the lanes that inline the task ...
  kOthersOnly = 8192,        // ... and in the others
  kAtCause = 32768,          // a task that runs on a thread of its own begins with its cause, without a label
  kCoordinatedOnly = 16384,  // a fork or join: only in the lanes that make the tasks of `moves` coordinators
};

// The operations between a fork and its join, which may run again. Loops that may need their saved slots at the same
// time have places of their own.
struct LaneLoop {
  uint32_t fork = 0, join = 0;              // operations
  uint32_t place = 0;                       // in LaneProgram::loop_places
  uint32_t slots_begin = 0, slots_end = 0;  // in LaneProgram::loop_slots
  uint32_t hosts_begin = 0, hosts_end = 0;  // in LaneProgram::loop_hosts
};

// The place where a loop saves the slots that its operations write. Many loops use one place, one after the other: the
// memory of a runner grows with their number only where each overlaps the next.
struct LanePlace {
  uint32_t slots = 0, hosts = 0;              // the most that one of its loops saves
  uint32_t slots_begin = 0, hosts_begin = 0;  // sums over the places before it
};

struct LaneProgram {
  // A pass reads all operations from memory, and reading takes longer than computing. So operations are narrow where
  // they fit, and one of the two columns is empty (lanes_narrow.cc).
  base::Column<LaneOp> ops;
  base::Column<NarrowLaneOp> narrow_ops;
  std::vector<int64_t> begins;  // by thread
  uint32_t slots = 0, hosts = 0;
  std::vector<LaneLoop> loops;                   // by number: `result` of their forks and joins
  std::vector<uint32_t> loop_slots, loop_hosts;  // those that a loop's operations write
  std::vector<LanePlace> loop_places;
  size_t moves = 0;
  std::vector<std::vector<uint32_t>> class_moves;  // by class of tasks: the moves that place them; none in class 0
  std::vector<Placement> placements;               // by move
  std::vector<bool> refused;                       // by class: has no place in the common order ...
  std::vector<bool> refused_coordinators;          // ... where its tasks are coordinators
  size_t changes_max = 0;                          // of occupied threads, in one lane
  int64_t begin_ns = 0, end_ns = 0;                // of the trace
  int64_t answered = 0;                            // outermost tasks with a response time
  bool takes_locks = false;                        // has waits for locks: no lane of coordinators is exact
  size_t lanes = kLanes;                           // that a LaneRunner runs at a time
  bool possible = false;                           // false: not even the unchanged run could be put in order

  size_t operations() const { return ops.size() + narrow_ops.size(); }
};

// `outermost`: the tasks whose response times are added up. Linear in the vertices, but for a queue of threads. The
// program has as many `lanes` as a LaneRunner of it may take memory for: 16, 8 or 4. It is not `possible` where four
// are too many.
LaneProgram compile_lanes(const TraceDag& dag, std::span<const Move> moves, std::span<const TaskId> outermost,
                          size_t runner_bytes_max = std::numeric_limits<size_t>::max());

// The same program of narrow operations, if its numbers fit; unchanged otherwise. compile_lanes ends with it.
void narrow(LaneProgram& program);

struct LaneResult {
  bool exact = false;  // otherwise nothing below holds
  int64_t end_ns = kNever;
  int64_t active_ns = 0, waiting_ns = 0;
  int64_t response_ns = 0;  // summed over the outermost tasks
  uint32_t peak_occupied = 0;
};

// The thread that hosts a coordinator, in each lane.
struct LaneHost {
  LaneRow slot;
  LaneRow free;     // -1 in the lanes whose host is not occupied by itself
  LaneRow spawner;  // -1 in the lanes whose host is the spawner
  int64_t hand_out_ns;
};

// Where a loop begins, for running it again.
struct LaneSaved {
  LaneRow bad, end, occupied, waiting, response;
  size_t changes;
  uint32_t open;
};

struct LaneMachine;  // lane_machine.h

class LaneRunner {
 public:
  explicit LaneRunner(const LaneProgram& program);
  LaneRunner(const LaneProgram& program, const LaneMachine& machine);  // as LaneRunner, on a lesser machine

  // The memory of one LaneRunner that runs so many lanes at a time.
  static size_t bytes(const LaneProgram& program, size_t lanes);

  // REQUIRES: at most program.lanes sets, each of positions of moves that do not place one task in two ways;
  // program.possible.
  void run(std::span<const std::span<const uint32_t>> sets, std::span<LaneResult> results);

  // The work of the latest run: operations, those that ran again counted again.
  uint64_t operations() const { return program_.operations() + again_; }

 private:
  void choose(std::span<const std::span<const uint32_t>> sets);

  const LaneProgram& program_;
  const LaneMachine& machine_;
  std::vector<LaneRow> slots_;
  std::vector<LaneHost> hosts_;
  std::vector<LaneRow> inlined_, continued_;        // by class: -1 in the lanes that place its tasks so
  std::vector<uint8_t> any_moved_, any_continued_;  // by class
  std::vector<LaneRow> predicted_;                  // by loop: when the thread goes on
  std::vector<LaneRow> guessed_;                    // by loop: the lanes that guess it, because nothing settles it
  uint64_t again_ = 0;                              // operations that ran again
  std::vector<uint32_t> turns_;                     // by loop: how often it ran again
  std::vector<LaneSaved> saved_;                    // by place
  std::vector<LaneRow> saved_slots_;                // by place, one after the other
  std::vector<LaneHost> saved_hosts_;
  LanePeaks peaks_;
  LaneRow refused_{};
};

}  // namespace contrafact::graph
