#include "replay/plan/plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <span>
#include <unordered_map>
#include <utility>

#include "whatif/sim_sections.h"

namespace contrafact::replay {
namespace {

using whatif::Fiber;
using whatif::Op;
using whatif::OpCode;
using whatif::SectionPlan;
using whatif::SimProgram;
using whatif::Treatment;

class Planner {
 public:
  Planner(const SimProgram& program, const whatif::Variant& variant)
      : program_(program),
        trace_(*program.trace),
        treatments_(variant.treatments),
        plan_(plan_sections(program, variant.edits, whatif::LockRule::recorded, variant.cpu_scales)) {}

  base::Result<Schedule> run() {
    schedule_.recorded_ns = static_cast<uint64_t>(program_.end_ns - program_.begin_ns);
    schedule_.tokens = program_.tokens;
    schedule_.tasks = program_.task_count();
    schedule_.round_sizes = program_.sync.round_sizes;
    copy_locks();
    schedule_.threads.resize(trace_.threads.size());
    started_ = spared_threads();
    const std::vector<bool> spared = started_;
    called_.assign(trace_.tasks.size(), false);
    for (uint32_t t = 0; t < trace_.threads.size(); ++t) {
      schedule_.threads[t].background = spared[t] || program_.background[program_.thread_fiber(t)];
      if (spared[t]) continue;
      out_ = &schedule_.threads[t].actions;
      thread_ = recorded_on_ = t;
      credit_ns_ = 0;
      append(program_.thread_fiber(t), 0);
    }
    if (too_deep_) return base::Error{fmt::format("more than {} tasks within each other", kDepthMax)};
    number_semaphores();
    for (const whatif::Release& release : program_.releases) {
      if (started_[release.thread]) continue;
      schedule_.starts.push_back({release.thread, static_cast<uint64_t>(release.time_ns)});
    }
    return std::move(schedule_);
  }

 private:
  void copy_locks() {
    schedule_.locks.resize(plan_.locks.size());
    for (size_t i = 0; i < plan_.locks.size(); ++i) {
      ReplayLock& lock = schedule_.locks[i];
      lock.count = plan_.locks[i].count;
      switch (plan_.locks[i].kind) {
        case format::LockKind::rwlock:
          lock.kind = ReplayLockKind::rwlock;
          break;
        case format::LockKind::spinlock:
          lock.kind = ReplayLockKind::spinlock;
          break;
        case format::LockKind::semaphore:
          lock.kind = ReplayLockKind::semaphore;
          break;
        case format::LockKind::condition:
        case format::LockKind::futex:
          lock.kind = ReplayLockKind::condition;
          break;
        default:
          break;
      }
    }
    schedule_.credit_needs = program_.sync.credits.needs;
    schedule_.credit_needs.resize(plan_.locks.size());
  }

  const Op* ops() const { return plan_.ops.empty() ? program_.ops.data() : plan_.ops.data(); }
  const std::vector<Fiber>& fibers() const { return plan_.ops.empty() ? program_.fibers : plan_.fibers; }

  Treatment treatment(uint32_t task) const { return treatments_.empty() ? Treatment::keep : treatments_[task]; }
  bool is_called_now(uint32_t task) const {
    return treatment(task) == Treatment::inline_at_spawn || treatment(task) == Treatment::inline_at_wait;
  }

  // The threads that never start: the thread that started one, or the one that waits for it, calls its task.
  std::vector<bool> spared_threads() const {
    std::vector<bool> spared(trace_.threads.size(), false);
    for (uint32_t task = 0; task < treatments_.size(); ++task) {
      const model::TaskRow& row = trace_.tasks[task];
      if (is_called_now(task) && row.kind == model::TaskKind::thread && row.start.valid())
        spared[trace_.thread_of(row.start).index()] = true;
    }
    return spared;
  }

  // Tasks lie inside their thread's run, and tasks that are now called lie inside their callers: one level for each.
  void append(uint32_t fiber, int depth) {
    too_deep_ |= depth > kDepthMax;
    if (too_deep_) return;
    for (uint32_t i = fibers()[fiber].begin; i < fibers()[fiber].end; ++i) append(ops()[i], depth);
  }

  // Appends the task's operations to the thread that is being planned. It no longer hands the task out: the time for
  // that is taken off its next computation, as in the simulation.
  void call(uint32_t task, int depth) {
    const model::TaskRow& row = trace_.tasks[task];
    if (!row.start.valid() || called_[task]) return;
    called_[task] = true;
    const uint32_t caller = std::exchange(recorded_on_, trace_.thread_of(row.start).value);
    append(task, depth + 1);
    recorded_on_ = caller;
    credit_ns_ = program_.costs->spawn_ns[task] + program_.costs->start_ns[task];
  }

  void burn(int64_t ns) {
    const int64_t spared_ns = std::min(ns, credit_ns_);
    credit_ns_ -= spared_ns;
    if (ns > spared_ns) add(ActionCode::burn, static_cast<uint64_t>(ns - spared_ns));
  }

  void append(const Op& op, int depth) {
    const auto value = static_cast<uint32_t>(op.value);
    if (op.code != OpCode::cpu && op.code != OpCode::token_fire) credit_ns_ = 0;
    switch (op.code) {
      case OpCode::cpu:
        return burn(static_cast<int64_t>(op.value));
      case OpCode::pause:
        return add(ActionCode::sleep, op.value);
      case OpCode::take:
        return take(op);
      case OpCode::give:
        return give(op);
      case OpCode::sem_take:
        sem_takes_.push_back({whatif::section_of(op.value), thread_, out_->size()});
        out_->push_back({whatif::lock_of(op.value), whatif::section_of(op.value), 0, ActionCode::sem_take});
        return;
      case OpCode::sem_post:
        return add(ActionCode::sem_post, whatif::lock_of(op.value));
      case OpCode::barrier:
        return add(ActionCode::barrier, value);
      case OpCode::token_wait:
        return add(ActionCode::token_wait, value);
      case OpCode::token_fire:
        return add(ActionCode::token_fire, value);
      case OpCode::credit_wait:
        out_->push_back({value, 0, static_cast<uint32_t>(op.value >> 32), ActionCode::credit_wait});
        return;
      case OpCode::credit_fire:
        return add(ActionCode::credit_fire, value);
      case OpCode::spawn:
        if (treatment(value) == Treatment::inline_at_spawn) return call(value, depth);
        return spawn(value);
      case OpCode::call:
        return append(value, depth + 1);
      case OpCode::wait:
        if (treatment(value) == Treatment::inline_at_wait) call(value, depth);
        return add(ActionCode::join, value);
      case OpCode::complete:
        return add(ActionCode::finish, value);
      case OpCode::end:
        if (!program_.completes_by_op[value]) add(ActionCode::finish, value);
        return;
      default:
        return;
    }
  }

  void add(ActionCode code, uint64_t value) { out_->push_back({value, 0, 0, code}); }

  void spawn(uint32_t task) {
    const model::TaskRow& row = trace_.tasks[task];
    if (row.kind != model::TaskKind::thread || !row.start.valid() || is_called_now(task)) return;
    const uint32_t thread = trace_.thread_of(row.start).value;
    if (started_[thread]) return;
    started_[thread] = true;
    add(ActionCode::spawn, thread);
  }

  void take(const Op& op) {
    const uint32_t section = whatif::section_of(op.value);
    taken_by_[op.value] = thread_;
    const ActionCode code = whatif::is_shared(op.value) ? ActionCode::take_shared : ActionCode::take;
    out_->push_back({whatif::lock_of(op.value), section, plan_.need_of(op.value), code});
  }

  void give(const Op& op) {
    const auto taken = taken_by_.find(op.value);
    const bool by_other = program_.sync.sections[whatif::section_of(op.value)].thread.value != recorded_on_;
    if (by_other) schedule_.locks[whatif::lock_of(op.value)].given_by_others = true;
    if (!by_other && taken == taken_by_.end()) return;
    if (!by_other) taken_by_.erase(taken);
    const ActionCode code = whatif::is_shared(op.value) ? ActionCode::give_shared : ActionCode::give;
    out_->push_back({whatif::lock_of(op.value), whatif::section_of(op.value), 0, code});
  }

  // Sections are sorted by lock and time.
  void number_semaphores() {
    std::ranges::sort(sem_takes_, {}, &SemaphoreTake::section);
    uint32_t lock = UINT32_MAX, number = 0;
    for (const SemaphoreTake& take : sem_takes_) {
      Action& action = schedule_.threads[take.thread].actions[take.action];
      if (action.value != lock) number = 0;
      lock = static_cast<uint32_t>(action.value);
      action.need = ++number;
    }
  }

  struct SemaphoreTake {
    uint32_t section;
    uint32_t thread;
    size_t action;
  };

  static constexpr int kDepthMax = 1000;

  const SimProgram& program_;
  const model::Trace& trace_;
  const std::span<const Treatment> treatments_;
  const SectionPlan plan_;
  Schedule schedule_;
  std::vector<Action>* out_ = nullptr;
  uint32_t thread_ = 0;
  uint32_t recorded_on_ = 0;  // the thread that in the recording did what is now planned
  int64_t credit_ns_ = 0;     // of what the thread computes next
  bool too_deep_ = false;
  std::vector<bool> started_;
  std::vector<bool> called_;  // by task: in place of being started
  std::vector<SemaphoreTake> sem_takes_;
  std::unordered_map<uint64_t, uint32_t> taken_by_;  // by lock_value: the threads of open sections
};

}  // namespace

base::Result<Schedule> plan_schedule(const whatif::Simulator& simulator, const whatif::Variant& variant) {
  const SimProgram& program = simulator.program();
  if (!program.sync.native) return base::Error{"not a recording of a native program: only those can be replayed"};
  if (program.trace->threads.size() > kReplayThreadsMax) {
    return base::Error{std::to_string(program.trace->threads.size()) + " threads: a replay starts no more than " +
                       std::to_string(kReplayThreadsMax)};
  }
  if ((!variant.edits.empty() && variant.edits.size() != program.sync.sections.size()) ||
      (!variant.treatments.empty() && variant.treatments.size() != program.trace->tasks.size()))
    return base::Error{"the changes are for another trace"};
  if (!variant.pool_sizes.empty()) return base::Error{"pools of another size are not replayed, only simulated"};
  if (std::ranges::find(variant.treatments, Treatment::combinator) != variant.treatments.end())
    return base::Error{"tasks that become combinators are not replayed, only simulated"};
  return Planner(program, variant).run();
}

}  // namespace contrafact::replay
