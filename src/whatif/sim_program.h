// The program that the simulation executes: the events of each task, and of each plain thread, as a list of operations
// that no longer says which thread runs it or when. Compiled once per trace and read-only afterwards; any number of
// simulations may share it.
//
// Time between two events of one task becomes `cpu` (needs a core) or `pause` (a fixed delay off the core):
//  - where the kernel reported it, exactly: preempted gaps vanish (the simulation decides anew which thread is
//    preempted), blocked gaps are pauses, the rest is CPU;
//  - where it did not, all of it is CPU in tasks: an equal share where more threads ran than there were cores. Outside
//    of tasks it is a pause: there, threads mostly wait for the outside world (an acceptor in a system call looks as if
//    it ran);
//  - stops of the virtual machine are pauses.
// Native threads are simulated whether they deal with tasks or not, and their own code is CPU, because its blocking
// calls are recorded.
//
// Invariants
//  1. A fiber's operations are contiguous in `ops` and end with `ret`. Fiber i < tasks is task i; fiber tasks + j is
//     the own run of thread j. A fiber with begin == end never runs.
//  2. A task that is `dynamic` starts or completes when its sources have completed: no operation does it.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "base/column.h"
#include "model/cores_left.h"
#include "model/facts.h"
#include "model/trace.h"
#include "whatif/left_out.h"
#include "whatif/sim_conventions.h"
#include "whatif/sim_latency.h"
#include "whatif/sim_rounds.h"
#include "whatif/sim_sync.h"
#include "whatif/sim_vm_work.h"

namespace contrafact::whatif {

enum class OpCode : uint8_t {
  cpu,          // value: ns
  around,       // value: ns of core time for handing over a task, which stands for the event; none where it is called
  start_pause,  // value: ns off the core for starting a thread, whose task stands for the event; none if it is not started
  pause,        // value: ns
  cold,         // value: ns of core time that it takes besides if the core was idle before
  refill,  // value: ns of core time for filling caches again, if the core was idle for long enough before it got the thread
  vm_wait,      // value: ns; a pause for something that other threads held within the virtual machine
  stop,         // value: which of the recorded stops of the virtual machine
  foreign,      // value: foreign_value
  round,        // value: round_value; where the thread's next round of work begins, or one has ended
  handed,       // the call that handed out the last spawned task is over
  closing,      // value: pool; its shutting down begins ...
  closed,       // ... and is over
  mark,         // value: the number of an instant whose time is asked for
  emit,         // nothing but its event
  spawn,        // value: task
  call,         // value: task, which runs here and now on this thread
  register_,    // value: task; from here on its sources may set it off
  complete,     // value: task
  wait,         // value: task
  take_next,    // value: the task whose result was taken in the recording; it takes the next of that task's `taken_in`
  wait_done,    // value: how long its thread took to go on after the completion; kTypicalLatency where it did not sleep
  token_wait,   // value: number of the wake that ended the recorded block
  token_fire,   // value: the same
  take,         // value: lock_value
  give,         // value: lock_value
  sem_take,     // value: lock_value
  sem_post,     // value: lock_value
  barrier,      // value: its round
  permit_take,  // value: permit_value
  permit_give,  // value: permit_value
  leave_pool,   // value: unused; from here to `rejoin_pool`, a fork-join pool may let another worker run instead
  rejoin_pool,  // value: unused
  credit_wait,  // value: credit_value
  credit_fire,  // value: a condition
  end,          // of the fiber's task
  ret,          // value: unused; the fiber is over
};

constexpr uint64_t kTypicalLatency = UINT64_MAX;

struct Op {
  uint64_t value;
  uint32_t event;  // the recorded event that it stands for; UINT32_MAX for none
  OpCode code;
};

// The core time in ns that the thread wanted and other programs used, and how many cores they used then, in 1/256.
constexpr int kForeignNsBits = 48;
constexpr uint64_t foreign_value(int64_t lost_ns, double cores) {
  const auto ns = static_cast<uint64_t>(lost_ns) & ((uint64_t{1} << kForeignNsBits) - 1);
  return ns | static_cast<uint64_t>(cores < 0 ? 0 : cores > 255 ? 255 * 256 : cores * 256) << kForeignNsBits;
}
constexpr int64_t foreign_ns(uint64_t foreign_value) {
  return static_cast<int64_t>(foreign_value & ((uint64_t{1} << kForeignNsBits) - 1));
}
constexpr uint32_t foreign_cores_256(uint64_t foreign_value) {
  return static_cast<uint32_t>(foreign_value >> kForeignNsBits);
}

// An operation on a lock: the lock, whether shared, and the critical section that it begins or ends.
constexpr uint64_t lock_value(uint32_t section, uint32_t lock, bool shared) {
  return uint64_t{section} | uint64_t{lock} << 32 | uint64_t{shared} << 63;
}
constexpr uint32_t section_of(uint64_t lock_value) {
  return static_cast<uint32_t>(lock_value);
}
constexpr uint32_t lock_of(uint64_t lock_value) {
  return static_cast<uint32_t>(lock_value >> 32) & INT32_MAX;
}
constexpr bool is_shared(uint64_t lock_value) {
  return lock_value >> 63 != 0;
}

// A comer at a condition, and how many signals it needed in the recording.
constexpr uint64_t credit_value(uint32_t condition, uint32_t need) {
  return uint64_t{condition} | uint64_t{need} << 32;
}

// `count` permits of a pool of permits.
constexpr uint64_t permit_value(uint32_t pool, uint32_t count) {
  return uint64_t{pool} | uint64_t{count} << 32;
}

struct Fiber {
  uint32_t begin = 0;
  uint32_t end = 0;
  bool runs() const { return begin != end; }
};

// A thread that no simulated operation starts.
struct Release {
  uint32_t thread;
  int64_t time_ns;  // after the run's beginning
};

// Of what a thread computed in `cpu_ns`, with that share of the filling of caches, how long all of that filling takes at most: three
// quarters of both, as no computing is nothing but misses.
constexpr int64_t refill_most_ns(int64_t cpu_ns, double share) {
  constexpr double kMost = 0.75;
  return static_cast<int64_t>(kMost / (1 - kMost * (1 - share)) * static_cast<double>(cpu_ns));
}

// What was computed after a core had been idle, for as long as its caches may have been cold.
struct AfterIdle {
  uint32_t fiber;
  uint32_t
      idle;  // the times that a core was found idle are numbered; parts of the computing after one of them follow each other
  double share;  // ColdCores::share()
  int64_t cpu_ns;
};

// What becomes of a run in which nothing can happen any more, and threads still wait.
enum class StandStill : uint8_t {
  // The recorded run came to its end. In another order, a thread may wait for what only its own lateness holds up: the first such thread
  // goes on without what it waits for.
  is_broken,
  // More requests at a time than were recorded may really come to wait for each other. Only waits that would not end in their own request
  // alone are broken.
  is_reported
};

struct SimProgram {
  const model::Trace* trace = nullptr;
  std::span<const model::ThreadUse> uses;
  base::Column<Op> ops;
  std::vector<Fiber> fibers;
  std::vector<bool> dynamic;          // by task
  std::vector<bool> called;           // by task: started by a `call`
  std::vector<bool> completes_by_op;  // by task: some operation completes it; otherwise its end does
  // Fork-join tasks that are complete when all the tasks spawned below them have ended, whichever is last (counted
  // completers, which parallel streams are made of). Both empty where the trace has none.
  std::vector<bool> counted;      // by task
  std::vector<uint32_t> parents;  // by task: the task that spawned it; UINT32_MAX for none
  // By task: the fork-join pool whose tasks a thread runs while it waits for this future of some of them; UINT32_MAX for
  // none. Empty where no thread does. `parents` is there with it, of tasks that were spawned within such tasks.
  std::vector<uint32_t> helped;
  // By fiber: the run is over without it. Tasks that the recording cut off, delayed and periodic ones, and daemon
  // threads that are never joined would otherwise keep every variant at the recorded length.
  std::vector<bool> background;
  std::vector<uint32_t> needs;       // by task: sources that must complete; 0 where none
  std::vector<uint32_t> dependents;  // of task s: [dependents_begin[s], dependents_begin[s + 1])
  std::vector<uint32_t> dependents_begin;
  // By pool: the fiber that a worker runs first if that worker was not recorded (sim_own_values.h); UINT32_MAX for
  // none.
  // Empty without any.
  std::vector<uint32_t> own_values;
  std::vector<Release> releases;
  // Threads from this number on, of those that the program begins with, are clients: outside of the machine, they need no core.
  uint32_t clients_from = UINT32_MAX;
  // Where a place of the program takes results as they come (ExecutorCompletionService): by task, the number of the
  // taking that took it; UINT32_MAX for none. Empty without any.
  std::vector<uint32_t> taken_in;
  uint32_t takings = 0;
  std::vector<bool> external_help;  // by pool: outsiders run its queued tasks while they wait for them
  // By pool of permits: how many there are at first; kPermitsUnknown where threads that are not simulated deal with
  // them. Empty without any.
  static constexpr uint32_t kPermitsUnknown = UINT32_MAX;
  std::vector<uint32_t> permits;
  StandStill stand_still = StandStill::is_broken;
  uint32_t tokens = 0;
  std::vector<uint32_t> token_group;  // by token of a recorded wake: Tokens::group
  std::vector<std::vector<uint32_t>> token_groups;
  std::vector<int64_t> token_ns;  // by token of a recorded wake: from it to the return from the block
  Latencies latencies;
  std::vector<HandOver> hand_overs;             // by task
  const model::HandOverCosts* costs = nullptr;  // of processor time
  std::vector<int64_t> periodic_due_ns;         // by task; empty without any (sim_periods.h)
  VmWork vm_work;                               // none where the kernel did not report, and of native traces
  SimConventions conventions;
  SyncFacts sync;  // empty but for native traces and those with locks
  Rounds rounds;
  LeftOut left_out;
  std::vector<AfterIdle> after_idle;  // only where `left_out` asks for it
  model::CoresLeft cores_left;        // but for SimulateOptions::whole_cores
  int64_t begin_ns = 0;               // the recorded run's beginning ...
  int64_t end_ns = 0;                 // ... and the end of the last fiber that is not background
  uint64_t unknown_waits = 0;
  uint32_t marks = 0;  // instants of `mark` operations
  // By task that is the run of a thread: that thread. Empty: the trace's events say it.
  std::vector<uint32_t> run_threads;
  std::vector<std::string> notes;

  uint32_t task_count() const { return static_cast<uint32_t>(dynamic.size()); }
  uint32_t thread_fiber(uint32_t thread) const { return task_count() + thread; }
  // REQUIRES: the task is the run of a thread.
  uint32_t thread_of_run(uint32_t task) const {
    return run_threads.empty() ? trace->thread_of(trace->tasks[task].start).value : run_threads[task];
  }
  bool is_simulated(uint32_t thread) const {
    return conventions.all_threads_count || uses[thread].role != model::ThreadRole::bystander;
  }
};

// `keep_emits`: false leaves out operations that only write events, for simulations without a trace. `marked`: events,
// sorted, at which a `mark` operation stands; its value is the event's position there. They are events of no meaning to the
// simulation by themselves. The program refers to `facts`, which must outlive it.
SimProgram compile_program(const model::Facts& facts, bool keep_emits, const LeftOut& left_out = {},
                           std::span<const uint32_t> marked = {});
SimProgram compile_program(const model::Trace& trace, bool keep_emits) = delete;  // whose facts would not last

}  // namespace contrafact::whatif
