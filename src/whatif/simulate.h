// The re-dispatch model: a discrete-event simulation of the recorded run in which pools of their real size hand out
// queued tasks to any free worker, on a given number of cores. The tasks' programs (segments of CPU, blocks, spawns,
// waits, completions) are as recorded; which worker runs them, and when, is decided anew.
//
// Pure and deterministic: no wall clock, equal inputs give equal bytes. One simulation runs on one thread; several may
// share a trace.
//
// Invariants
//  1. Every task that was started in the recording is started once in the simulation, unless the result is `stuck`. The
//     run is over when nothing but background is left: tasks that the recording cut off, delayed and periodic ones, and
//     daemon threads that are never joined.
//  2. With the recorded assignment's resources unlimited, the duration is that of the longest chain of dependences.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "model/facts.h"
#include "whatif/left_out.h"
#include "whatif/sim_lock.h"
#include "whatif/variant.h"

namespace contrafact::whatif {

struct SimulateOptions {
  uint32_t cores = 0;  // 0: as many as the trace's fact "cores" says; without one, unlimited
  bool unlimited_cores = false;
  bool whole_cores = false;  // other programs use none of them, and no limit holds
  bool unlimited_pools = false;
  std::vector<PoolSize> pool_sizes;  // of the machine, beside the variant's
  bool recorded_latencies = true;    // hand-over and wake-up latencies as recorded; false: none
  bool build_trace = true;           // false: metrics only, about twice as fast

  // Where there are locks.
  LockRule lock_rule = LockRule::barging;  // which thread acquires a lock next
  uint64_t seed = 0;     // 0: every hand-over takes the typical time; else one of the recorded ones, drawn by this
  int64_t slice_ns = 0;  // how long a thread keeps a core that others want; 0: as recorded
  // The load is another one than the recorded: whether a woken thread preempts follows from its lag, where the recorded
  // system decided by that (sim_wake_placement.h).
  bool preempts_by_lag = false;
};

// A thread that still waited when the simulation could not go on.
struct StuckTask {
  model::TaskId task;       // none: a plain thread outside any task
  model::TaskId waits_for;  // none: not known
  std::string reason;       // "queued: pool shop-pool has no free worker", "waits for Feed.load (Feed.java:41)"
  enum class Lacks : uint8_t { other, worker, worker_of_its_pool, permits };
  Lacks lacks = Lacks::other;  // worker: to run what it waits for, or itself
};

// How one lock was waited for in a simulated run.
struct LockWait {
  uint32_t lock = 0;  // a row of trace.locks, or a new one of the edits (section_edit.h)
  uint64_t acquisitions = 0;
  uint64_t contended = 0;
  int64_t wait_ns = 0;  // all threads together
};

struct Simulation {
  model::Trace trace;  // Origin::simulated; empty without build_trace
  int64_t duration_ns = 0;
  uint64_t steps = 0;              // simulated events
  int64_t cpu_ns = 0;              // core time used
  double core_utilisation = 0;     // of the time that cores were left to the program
  uint32_t cores = 0;              // 0: unlimited
  int64_t spared_waits_ns = 0;     // left out: waits, within the virtual machine, of tasks that are called now
  uint64_t unknown_waits = 0;      // waits whose cause the trace does not hold: kept at their recorded length
  std::vector<StuckTask> stuck;    // empty: the run came to its end
  std::vector<std::string> notes;  // assumptions that this trace forced, one line each
  std::vector<LockWait> locks;     // by lock; empty without locks
};

// The recorded run as `variant` makes it. Errors: a treatment that cannot be applied (says which task and why), edits
// that are not parallel to the trace's critical sections or name a lock that cannot be.
base::Result<Simulation> simulate(const model::Facts& facts, const Variant& variant,
                                  const SimulateOptions& options = {});

// The self-check: the unchanged run simulated on the recorded machine's cores, and how far its duration is from the
// recorded one.
struct BaselineCheck {
  int64_t recorded_ns = 0;
  int64_t checked_ns = 0;
  int64_t simulated_ns = 0;  // with the options asked for: equal to checked_ns where these are the recorded cores
  int64_t cpu_ns = 0;        // core time used in it
  double error = 0;          // (checked - recorded) / recorded
  bool trusted = false;      // within 5 %, re-timed within 2 %, and not stuck
  bool stuck = false;        // the simulation of the unchanged run came to no end: its duration means nothing
  std::vector<std::string> notes;

  // Traces with locks are re-timed as well: beyond 2 % the trace does not explain its own waits.
  int64_t retimed_ns = 0;
  double retimed_error = 0;
};
base::Result<BaselineCheck> check_baseline(const model::Facts& facts, const SimulateOptions& options = {});

// The fact in a simulated trace about the simulation that made it: BaselineCheck::error, as a decimal number.
inline constexpr std::string_view kBaselineErrorFact = "simulated.baseline_error";
model::Fact baseline_fact(const BaselineCheck& check);

struct SimProgram;
class Retimer;

struct SectionPlan;

// Many simulations of one trace, metrics only: their common part is computed once. Immutable, may be shared between
// threads; the arguments must outlive it.
class Simulator {
 public:
  // Where something is left out, check_baseline says by how much the run is shorter for it.
  explicit Simulator(const model::Facts& facts, const LeftOut& left_out = {});
  explicit Simulator(const model::Trace& trace);
  ~Simulator();
  // As the functions of the same names; options.build_trace is ignored: there is none.
  base::Result<Simulation> simulate(const Variant& variant, const SimulateOptions& options = {}) const;
  // The variant's critical sections, planned. A caller that simulates a variant several times, for example with other
  // seeds, makes the plan once: for a recording with many sections, a plan takes as long as a simulation. Null where
  // simulate() returns an error that says why.
  std::shared_ptr<const SectionPlan> plan(const Variant& variant, LockRule rule) const;
  // REQUIRES: `plan` is of this variant's sections and of options.lock_rule, or null.
  base::Result<Simulation> simulate(const Variant& variant, const SimulateOptions& options,
                                    const SectionPlan* plan) const;
  base::Result<BaselineCheck> check_baseline(const SimulateOptions& options = {}) const;
  // The duration of the run with its critical sections changed, by re-timing (retime.h): in the recorded order, and on
  // as many cores as it takes.
  int64_t retime_sections(std::span<const SectionEdit> edits) const;
  // model::critical_sections of the trace; empty without locks.
  std::span<const model::CriticalSection> sections() const;
  const SimProgram& program() const;

 private:
  explicit Simulator(std::unique_ptr<const model::Facts> facts);

  std::unique_ptr<const model::Facts> own_facts_;  // null: the caller owns them
  const model::Facts* facts_;
  std::unique_ptr<const SimProgram> program_;
  std::unique_ptr<const Retimer> retimer_;  // of traces with locks
};

}  // namespace contrafact::whatif
