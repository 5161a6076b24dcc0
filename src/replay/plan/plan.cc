#include "replay/plan/plan.h"

#include <algorithm>
#include <unordered_map>

#include "model/facts.h"
#include "whatif/sim_sections.h"

namespace contrafact::replay {
namespace {

using whatif::Fiber;
using whatif::Op;
using whatif::OpCode;
using whatif::SectionPlan;
using whatif::SimProgram;

class Planner {
 public:
  Planner(const SimProgram& program, const whatif::Variant& variant)
      : program_(program),
        trace_(*program.trace),
        plan_(plan_sections(program, variant.edits, whatif::LockRule::recorded, variant.cpu_scales)) {}

  base::Result<Schedule> run() {
    schedule_.recorded_ns = static_cast<uint64_t>(program_.end_ns - program_.begin_ns);
    schedule_.tokens = program_.tokens;
    schedule_.tasks = program_.task_count();
    schedule_.round_sizes = program_.sync.round_sizes;
    copy_locks();
    schedule_.threads.resize(trace_.threads.size());
    started_.assign(trace_.threads.size(), false);
    for (uint32_t t = 0; t < trace_.threads.size(); ++t) {
      schedule_.threads[t].background = program_.background[program_.thread_fiber(t)];
      out_ = &schedule_.threads[t].actions;
      thread_ = t;
      append(program_.thread_fiber(t), 0);
    }
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

  // Threads' runs are tasks inside the thread's own: one level for each.
  void append(uint32_t fiber, int depth) {
    constexpr int kDepthMax = 8;
    if (depth > kDepthMax) return;
    for (uint32_t i = fibers()[fiber].begin; i < fibers()[fiber].end; ++i) append(ops()[i], depth);
  }

  void append(const Op& op, int depth) {
    const auto value = static_cast<uint32_t>(op.value);
    switch (op.code) {
      case OpCode::cpu:
        return add(ActionCode::burn, op.value);
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
        return spawn(value);
      case OpCode::call:
        return append(value, depth + 1);
      case OpCode::wait:
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
    if (row.kind != model::TaskKind::thread || !row.start.valid()) return;
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
    const bool by_other = program_.sync.sections[whatif::section_of(op.value)].thread.value != thread_;
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

  const SimProgram& program_;
  const model::Trace& trace_;
  const SectionPlan plan_;
  Schedule schedule_;
  std::vector<Action>* out_ = nullptr;
  uint32_t thread_ = 0;
  std::vector<bool> started_;
  std::vector<SemaphoreTake> sem_takes_;
  std::unordered_map<uint64_t, uint32_t> taken_by_;  // by lock_value: the threads of open sections
};

}  // namespace

base::Result<Schedule> plan_schedule(const whatif::Simulator& simulator, const whatif::Variant& variant) {
  const SimProgram& program = simulator.program();
  if (!model::is_native(*program.trace))
    return base::Error{"not a recording of a native program: only those can be replayed"};
  if (program.trace->threads.size() > kReplayThreadsMax) {
    return base::Error{std::to_string(program.trace->threads.size()) + " threads: a replay starts no more than " +
                       std::to_string(kReplayThreadsMax)};
  }
  if (!variant.edits.empty() && variant.edits.size() != program.sync.sections.size())
    return base::Error{"the edits are for another trace"};
  if (!variant.treatments.empty() || !variant.pool_sizes.empty())
    return base::Error{"changes of tasks and pools are not replayed, only simulated"};
  return Planner(program, variant).run();
}

}  // namespace contrafact::replay
