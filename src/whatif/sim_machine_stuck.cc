// The report on a simulated run that did not come to its end: which thread waits for what.
#include "model/processes.h"
#include "whatif/sim_machine.h"

namespace contrafact::whatif {

std::string SimMachine::stuck_reason(const Thread& thread) const {
  const model::TaskRow& awaited = row(thread.blocked_on);
  std::string text = "waits for " + trace_.method_label(awaited.body);
  if (awaited.spawn_context.valid()) text += " (spawned at " + trace_.context_label(awaited.spawn_context) + ")";
  if (states_[thread.blocked_on] == TaskState::queued) {
    text += ", which is queued: no worker of pool " + model::pool_label(trace_, awaited.pool) + " is free";
  } else if (states_[thread.blocked_on] == TaskState::running) {
    text += ", which waits itself";
  } else {
    text += ", which nobody starts or completes";
  }
  return text;
}

void SimMachine::report_stuck(Simulation& result) const {
  constexpr size_t kReportsMax = 100;
  for (uint32_t task = 0; task < states_.size(); ++task) {
    for (uint32_t node = completed_[task] ? kNone : first_waiter_[task]; node != kNone; node = waiters_[node].next) {
      if (waiters_[node].is_thread || result.stuck.size() == kReportsMax) continue;
      const model::TaskId coordinator(parked_[waiters_[node].id].fiber);
      result.stuck.push_back({coordinator, model::TaskId(task), "a coordinator whose sub-task never completes"});
    }
  }
  for (size_t i = 0; i < threads_.size(); ++i) {
    const Thread& thread = threads_[i];
    if (thread.mode != Mode::waiting || result.stuck.size() == kReportsMax) continue;
    const uint32_t fiber = thread.stack.back().fiber;
    const model::TaskId task = fiber < program_.task_count() ? model::TaskId(fiber) : model::TaskId();
    result.stuck.push_back({task, model::TaskId(thread.blocked_on), stuck_reason(thread)});
  }
  for (uint32_t task = 0; task < states_.size(); ++task) {
    const bool owed = fibers_[task].runs() && !program_.background[task];
    if (states_[task] == TaskState::ended || !owed || result.stuck.size() == kReportsMax) continue;
    if (states_[task] == TaskState::running) continue;  // its thread has been reported
    if (states_[task] == TaskState::queued) {
      const std::string pool = model::pool_label(trace_, row(task).pool);
      result.stuck.push_back({model::TaskId(task), model::TaskId(), "queued: pool " + pool + " has no free worker"});
    } else {
      result.stuck.push_back({model::TaskId(task), model::TaskId(),
                              "never set off: what spawns it, or its sources, did not get that far"});
    }
  }
}

}  // namespace contrafact::whatif
