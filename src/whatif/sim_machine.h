// The machine that executes a SimProgram: simulated threads, pools, locks and cores. One run, then it is used up. Not
// thread-safe.
//
// A thread holds a stack of frames, one for each fiber that it is inside of: inlined tasks, stages run by the thread
// that completed their source, tasks that it helps with. The machine takes the next event from the clock and lets that
// thread go on until it needs time or has to wait.
#pragma once

#include <algorithm>
#include <memory>
#include <optional>
#include <span>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/fifo.h"
#include "whatif/sim_clock.h"
#include "whatif/sim_latency.h"
#include "whatif/sim_pool.h"
#include "whatif/sim_program.h"
#include "whatif/sim_sections.h"
#include "whatif/sim_trace.h"
#include "whatif/simulate.h"
#include "whatif/task_groups.h"

namespace contrafact::whatif {

class SimMachine {
 public:
  SimMachine(const SimProgram& program, const SectionPlan& plan, std::span<const Treatment> treatments,
             const TaskGroups& groups, const SimulateOptions& options, uint32_t cores);

  // Runs to the end, or until nothing can happen any more.
  base::Result<Simulation> run();
  // After the run: how long each lock was waited for, without locks that were never acquired.
  std::vector<LockWait> lock_waits() const;
  // After the run: when each mark was passed first; -1: never.
  const std::vector<int64_t>& marks_ns() const { return marks_ns_; }

 private:
  static constexpr uint32_t kNone = UINT32_MAX;

  struct Frame {
    uint32_t fiber;
    uint32_t pc;
    uint32_t written;        // the task as which the result's trace knows it
    bool in_wait;            // its wait has begun
    bool is_waiter = false;  // and its thread is among the task's waiters
    // Taken off the time until it does something: the hand-over that an inlined task does not need.
    int64_t credit_ns = 0;
    // The thread is inside library code for a task that is called now, or for a pool without workers: none of that code
    // runs.
    bool skips = false;
  };
  enum class Mode : uint8_t {
    idle,
    starting,
    running,
    waiting,
    token,
    lock,
    spinning,
    asking,   // it found a lock held, and the kernel has not looked yet
    leaving,  // it waits for a lock, and has not left its core yet
    barrier,
    credit,
    permits,
    finished
  };
  struct Thread {
    std::vector<Frame> stack;
    uint32_t stream = 0;
    uint32_t pool = kNone;
    uint32_t worker = kNone;        // its position in the pool
    uint32_t reserved = kNone;      // starting: the task that it will run
    uint32_t before_first = kNone;  // the fiber that it runs before its first task
    uint32_t blocked_on = kNone;
    Mode mode = Mode::starting;
    uint32_t helps = kNone;  // the pool among whose helpers it is
    bool is_called = false;  // it is on its way to look for tasks there
    // Of a thread in a queue for a lock, semaphore or barrier:
    bool in_queue = false;  // it has asked, and has not gone on yet
    bool granted = false;   // it has got what it waited for when it comes back
    bool woken = false;     // it is on its way to try again
    bool slept = false;     // since it asked
    uint32_t next_waiter = kNone;
    int64_t comes_ns = 0;  // when it is due back, set by the thread that woke it last
    uint64_t wanted = 0;   // lock_value; at a condition, how many signals
    int64_t wait_since_ns = 0;
    int64_t spared_ns = 0;  // part of its next CPU time that the recorded run spent on waking; < 0: only this run does
  };
  struct Permits {
    struct Waiter {
      uint32_t thread;
      int64_t count;
    };
    uint64_t size = 0;
    int64_t count = 0;  // that are free; < 0: threads went on without so many
    base::Fifo<Waiter> waiting;
  };
  // Results that are taken as they come.
  struct Taking {
    base::Fifo<uint32_t> there;    // tasks that are complete and not taken
    base::Fifo<uint32_t> waiting;  // threads
  };
  struct Round {
    uint32_t arrived = 0;
    uint32_t first = kNone, last = kNone;
  };
  enum class TaskState : uint8_t { unknown, queued, running, ended };
  // What goes on when a task completes: a thread, or the rest of a coordinator.
  struct Waiter {
    bool is_thread;
    uint32_t id;  // of the thread, or in `parked_`
    uint32_t next;
  };

  void handle(const SimClock::Event& event);
  bool needs_core(uint32_t id) const;
  void resume(uint32_t id);
  void run_thread(uint32_t id);
  bool step(uint32_t id);
  void look_ahead(const Op& next) const;
  void act(uint32_t id, const Op& op);  // false: the thread gives way
  bool step_skipped(Thread& thread, const Op& op);
  static int64_t less_credit(Frame& frame, int64_t ns) {
    const int64_t taken_ns = std::min(frame.credit_ns, ns);
    frame.credit_ns -= taken_ns;
    return ns - taken_ns;
  }
  static int64_t less_waking(Thread& thread, int64_t ns);
  bool step_cpu(uint32_t id, int64_t ns);
  bool step_refill(uint32_t id, int64_t ns);
  bool is_never_handed_out(uint32_t task) const;
  static bool spare_around(Frame& frame, int64_t ns);
  bool step_around(uint32_t id, const Op& op);
  bool step_vm_wait(uint32_t id, int64_t ns);
  bool step_stop(uint32_t id, uint32_t stop);
  bool step_foreign(uint32_t id, uint64_t value);
  bool step_wait(uint32_t id, const Op& op);
  bool step_take_next(uint32_t id, const Op& op);
  void write_wait(uint32_t id, model::EventKind kind, uint32_t event);
  bool step_token(uint32_t id, const Op& op);
  void step_round(uint32_t id, const Op& op);
  void step_end(uint32_t id, const Op& op);
  void step_ret(uint32_t id);
  bool next_work(uint32_t id);

  void push_frame(uint32_t id, uint32_t fiber);
  void spawn(uint32_t id, uint32_t task, uint32_t event);
  int64_t due_time_ns(uint32_t task) const;
  bool is_called_now(uint32_t task) const;
  bool joins_group(uint32_t task) const;
  bool is_answered(uint32_t task) const;
  void leave_out_thread(uint32_t task);
  void push_group(uint32_t id, uint32_t last);
  void spare_taking(Frame& frame) const;
  void complete(uint32_t id, uint32_t task);
  void set_off(uint32_t id, uint32_t task);
  void notify_all(uint32_t id);
  void notify(uint32_t id, uint32_t task);
  void detach(uint32_t id, uint32_t awaited);
  void count_down(uint32_t id, uint32_t task);

  void block(uint32_t id, Mode mode, uint32_t on);

  // sim_machine_pools.cc
  void build_pools(const SimulateOptions& options);
  void build_permits(const SimulateOptions& options);
  void submit(uint32_t task, uint32_t by);
  void signal(uint32_t pool, uint32_t task);
  void create_worker(uint32_t pool, uint32_t task);
  void wake_idle(uint32_t pool, uint32_t task, uint32_t woken_by);
  void go_idle(uint32_t id);
  void leave_pool(const Thread& thread);
  bool help(uint32_t id, uint32_t task);
  bool takes_time_to_help(uint32_t id);
  bool help_with_parts(uint32_t id, uint32_t task);
  bool help_with_others(uint32_t id, uint32_t task);
  template <typename IsWanted>
  bool help_pool(uint32_t id, uint32_t number, IsWanted is_wanted);
  bool would_run(uint32_t id, uint32_t task, uint32_t awaited) const;
  bool is_source(uint32_t task, uint32_t of) const;
  void await_calls(uint32_t id, uint32_t awaited);
  bool call_helper(uint32_t number, uint32_t task);
  void end_help(uint32_t id);
  bool is_part(uint32_t task, uint32_t of) const;
  void end_workers();

  // sim_machine_rounds.cc
  void find_rounds();
  bool is_over(const RoundLoop& loop) const;

  // sim_machine_stuck.cc
  bool break_standstill();
  bool break_tokens();
  bool break_endless_tokens();
  bool break_permits();
  void let_go(uint32_t id);
  bool is_client(uint32_t id) const { return id >= program_.clients_from && id < trace_.threads.size(); }
  void find_doers();
  uint32_t lacking_behind(uint32_t token) const;
  uint32_t held_up_by(uint32_t fiber) const;
  uint32_t held_up_by(const Thread& thread) const;
  uint32_t source_of(uint32_t task) const;
  uint32_t completer_of(uint32_t task) const;
  void report_stuck(Simulation& result) const;
  void report_stuck_thread(uint32_t id, Simulation& result) const;
  void report_stuck_task(uint32_t task, Simulation& result) const;
  std::string task_label(uint32_t task) const;
  void add_lack_of_worker(const Thread& thread, uint32_t queued, StuckTask& stuck) const;
  StuckTask stuck_for_task(const Thread& thread) const;
  StuckTask stuck_for_token(const Thread& thread) const;
  StuckTask stuck_for_permits(const Thread& thread) const;

  // sim_machine_sync.cc
  bool step_take(uint32_t id, const Op& op);
  void step_give(uint32_t id, const Op& op);
  void pay_for_waking(uint32_t id, const Op& op, const SimLock& lock);
  bool step_sem_take(uint32_t id, const Op& op);
  void step_sem_post(const Op& op);
  bool step_barrier(uint32_t id, const Op& op);
  bool step_credit_wait(uint32_t id, const Op& op);
  void step_credit_fire(const Op& op);
  bool break_credits();
  bool step_permit_take(uint32_t id, const Op& op);
  void step_permit_give(const Op& op);
  void let_have_permits(Permits& permits);
  bool may_enter(const SimLock& lock, uint64_t value) const;
  static bool enters_shared(const SimLock& lock, uint64_t value);
  uint32_t before_of(uint32_t section) const;
  void end_ordered(uint32_t section);
  void watch(uint32_t id);
  void unwatch(uint32_t id);
  void had_lock(uint32_t id, const Op& op, SimLock& lock);
  void begin_wait(uint32_t id, const Op& op, SimLock& lock);
  bool lingers_at(const SimLock& lock) const;
  void ask_for_sleep(uint32_t id);
  void fall_asleep(uint32_t id);
  void wait_for_lock(uint32_t id, const Op& op, bool spins);
  void enqueue(uint32_t& first, uint32_t& last, uint32_t id);
  template <typename Need>
  void enqueue(uint32_t& first, uint32_t& last, uint32_t id, Need need);
  uint32_t dequeue(uint32_t& first, uint32_t& last);
  void wake_waiter(uint32_t id, int64_t latency_ns);
  void leave_lock(SimLock& lock, uint64_t value);
  void hand_over(SimLock& lock, int64_t latency_ns);
  void wake_to_try(SimLock& lock);
  void change_phase(SimLock& lock, bool was_shared);
  bool any_reader_waits(const SimLock& lock) const;
  void grant_out_of_turn(SimLock& lock, uint32_t id, int64_t latency_ns);
  bool break_turns();
  double random_share();
  int64_t latency_ns(const LatencySamples& samples);
  int64_t next_way_ns();
  int64_t recorded_latency_ns(uint32_t id);
  int64_t start_latency_ns(uint32_t task, HandOver::Kind kind, int64_t typical_ns) const;
  int64_t wait_latency_ns(uint32_t id) const;
  int64_t wake_latency_ns(uint32_t token) const;
  uint32_t first_of_group(uint32_t token);

  // False for a task that a damaged trace starts twice.
  bool is_new(uint32_t task) const { return states_[task] == TaskState::unknown; }
  bool is_queued(uint32_t task) const { return states_[task] == TaskState::queued; }
  Treatment treatment(uint32_t task) const { return treatments_.empty() ? Treatment::keep : treatments_[task]; }
  const model::TaskRow& row(uint32_t task) const { return trace_.tasks[task]; }

  const SimProgram& program_;
  const SectionPlan& plan_;
  const std::span<const Op> ops_;
  const std::span<const Fiber> fibers_;
  const model::Trace& trace_;
  const std::span<const Treatment> treatments_;
  const TaskGroups& groups_;
  const SimulateOptions& options_;
  const uint32_t cores_;
  Latencies latencies_;
  SimClock clock_;
  SimTrace out_;
  // The trace's threads, then workers; each stays where it is.
  class Threads {
   public:
    Thread& operator[](size_t id) { return *threads_[id]; }
    const Thread& operator[](size_t id) const { return *threads_[id]; }
    size_t size() const { return threads_.size(); }
    Thread& add() { return *threads_.emplace_back(std::make_unique<Thread>()); }

   private:
    std::vector<std::unique_ptr<Thread>> threads_;
  };
  Threads threads_;
  std::vector<SimPool> pools_;
  std::vector<TaskState> states_;
  std::vector<uint32_t> run_by_;  // by task: the thread that runs it
  std::vector<bool> completed_;
  std::vector<uint32_t> unanswered_;  // by group of tasks: how many members have not ended yet
  std::vector<bool> answered_;        // by task of a group: it has ended; empty without groups
  std::vector<bool> registered_;
  std::vector<uint32_t> needs_;
  std::vector<uint32_t> first_waiter_, last_waiter_;  // by task, in `waiters_`
  std::vector<Waiter> waiters_;
  std::vector<Taking> takings_;
  std::vector<uint32_t> taken_as_;  // by task: the one taken in its stead; empty if none is taken as it comes
  std::vector<Frame> parked_;
  std::vector<bool> fired_;
  std::vector<bool> stopped_;  // by stop of the virtual machine: it has happened
  std::vector<uint32_t> token_waiter_;
  std::vector<size_t> next_of_group_;  // by group of tokens: the first that may not have fired
  std::vector<uint32_t> below_;        // by task: how many of itself and its fork-join sub-tasks are not over yet
  std::vector<uint32_t> parts_pool_;   // by counted task: the pool of those forked in it; kNone for others
  uint64_t foreground_ = 0;            // fibers to come that are not background
  std::vector<uint32_t> chain_;        // tasks that `complete` still has to complete
  uint64_t steps_ = 0;
  int64_t spared_waits_ns_ = 0;
  uint64_t tokens_broken_ = 0;
  std::vector<SimLock> locks_;
  // Of locks under LockRule::ordered, by section: it is over; and the first thread that waits until it is. The threads
  // that wait for one section are linked by next_waiter. Empty where no lock has that rule.
  std::vector<bool> section_over_;
  std::vector<uint32_t> first_watcher_;
  std::vector<Round> rounds_;
  std::vector<Permits> permits_;      // by pool; empty where there are none
  base::Fifo<uint32_t> asked_pools_;  // the pool of each wait for permits, in the order of the waits
  uint64_t permits_broken_ = 0;
  // The fibers that end waits: only known once a load stands still. kNone: there is none.
  struct Doers {
    std::vector<uint32_t> fires;                          // by token
    std::vector<uint32_t> hands_out, completes;           // by task
    std::unordered_multimap<uint32_t, uint32_t> sources;  // by task that depends on them: tasks
  };
  std::optional<Doers> doers_;
  uint64_t random_;
  uint32_t next_way_ = kNone;  // in program.sync.mutex_ways_ns
  uint64_t turns_broken_ = 0;
  // By loop of program.rounds:
  struct Loop {
    std::vector<uint32_t> begins;                     // of each round: the operation that it begins with
    uint32_t next = 0;                                // the first not handed out
    std::vector<std::pair<uint32_t, uint32_t>> ends;  // fiber, and where it goes on without a further round
  };
  std::vector<Loop> loops_;
  std::vector<int64_t> marks_ns_;
};

}  // namespace contrafact::whatif
