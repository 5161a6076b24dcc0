// The machine's part about runs in which nothing can happen any more: which thread goes on all the same, and the report on those that do
// not come to their end.
#include <fmt/format.h>

#include <unordered_set>

#include "model/processes.h"
#include "whatif/sim_machine.h"

namespace contrafact::whatif {
namespace {

constexpr uint32_t kResource = UINT32_MAX - 1;  // in place of a fiber: a worker, permits or a lock

}  // namespace

bool SimMachine::break_standstill() {
  if (break_turns() || break_credits()) return true;
  if (program_.stand_still == StandStill::is_reported) return break_endless_tokens();
  return break_tokens() || break_permits();
}

// A thread may wait for a recorded wake that only its own lateness holds up (a lock was handed over in another order): lets the first
// such thread go.
bool SimMachine::break_tokens() {
  for (uint32_t id = 0; id < threads_.size(); ++id) {
    if (threads_[id].mode != Mode::token) continue;
    let_go(id);
    return true;
  }
  return false;
}

// The same of a load, in which others of these waits are held up by a lack of workers or permits: that is a real standstill.
bool SimMachine::break_endless_tokens() {
  for (uint32_t id = 0; id < threads_.size(); ++id) {
    if (threads_[id].mode != Mode::token) continue;
    find_doers();
    if (lacking_behind(threads_[id].blocked_on) != kNone) continue;
    let_go(id);
    return true;
  }
  return false;
}

void SimMachine::let_go(uint32_t id) {
  fired_[threads_[id].blocked_on] = true;
  token_waiter_[threads_[id].blocked_on] = kNone;
  ++tokens_broken_;
  clock_.at(clock_.now_ns(), TimedKind::resume, id);
}

// In another order than recorded, a thread that would give permits may wait for some itself. It goes on without them; they are missing
// until it gives them.
bool SimMachine::break_permits() {
  while (!asked_pools_.empty()) {
    Permits& permits = permits_[asked_pools_.front()];
    asked_pools_.pop_front();
    if (permits.waiting.empty()) continue;
    let_have_permits(permits);
    ++permits_broken_;
    return true;
  }
  return false;
}

void SimMachine::find_doers() {
  if (doers_) return;
  doers_.emplace();
  doers_->fires.assign(program_.tokens, kNone);
  doers_->hands_out.assign(program_.task_count(), kNone);
  doers_->completes.assign(program_.task_count(), kNone);
  for (uint32_t fiber = 0; fiber < fibers_.size(); ++fiber) {
    for (const Op& op : ops_.subspan(fibers_[fiber].begin, fibers_[fiber].end - fibers_[fiber].begin)) {
      if (op.code == OpCode::token_fire) doers_->fires[op.value] = fiber;
      if (op.code == OpCode::complete) doers_->completes[op.value] = fiber;
      if (op.code == OpCode::spawn || op.code == OpCode::call || op.code == OpCode::register_)
        doers_->hands_out[op.value] = fiber;
    }
  }
  for (uint32_t source = 0; source < program_.task_count(); ++source) {
    for (uint32_t i = program_.dependents_begin[source]; i < program_.dependents_begin[source + 1]; ++i)
      doers_->sources.emplace(program_.dependents[i], source);
  }
}

// The fiber that lacks something bounded, of those that hold up whoever would fire the token. kNone: the wait is held up by itself, or by
// nothing that is known. In the recording, another request ended it.
uint32_t SimMachine::lacking_behind(uint32_t token) const {
  std::unordered_set<uint32_t> seen;
  for (uint32_t fiber = doers_->fires[token]; fiber != kNone && seen.insert(fiber).second;) {
    const uint32_t next = held_up_by(fiber);
    if (next == kResource) return fiber;
    fiber = next;
  }
  return kNone;
}

// The fiber that has to go on before this one can; kNone: none is known.
uint32_t SimMachine::held_up_by(uint32_t fiber) const {
  if (fiber >= program_.task_count()) return held_up_by(threads_[fiber - program_.task_count()]);
  switch (states_[fiber]) {
    case TaskState::queued:
      return kResource;
    case TaskState::running:
      return held_up_by(threads_[run_by_[fiber]]);
    case TaskState::ended:
      return kNone;
    case TaskState::unknown:
      break;
  }
  const uint32_t hands_out = doers_->hands_out[fiber];
  if (hands_out != kNone && !registered_[fiber]) return hands_out;
  const uint32_t source = source_of(fiber);
  return source == kNone ? kNone : completer_of(source);
}

uint32_t SimMachine::held_up_by(const Thread& thread) const {
  switch (thread.mode) {
    case Mode::permits:
    case Mode::lock:
    case Mode::spinning:
      return kResource;
    case Mode::token:
      return doers_->fires[thread.blocked_on];
    case Mode::waiting:
      return completer_of(thread.blocked_on);
    default:
      return kNone;
  }
}

// One that is not complete; kNone: there is none.
uint32_t SimMachine::source_of(uint32_t task) const {
  const auto [begin, end] = doers_->sources.equal_range(task);
  for (auto at = begin; at != end; ++at) {
    if (!completed_[at->second]) return at->second;
  }
  return kNone;
}

uint32_t SimMachine::completer_of(uint32_t task) const {
  const uint32_t completes = doers_->completes[task];
  return completes == kNone ? task : completes;
}

std::string SimMachine::task_label(uint32_t task) const {
  const model::TaskRow& one = row(task);
  std::string text = trace_.method_label(one.body);
  if (one.spawn_context.valid()) text += " (spawned at " + trace_.context_label(one.spawn_context) + ")";
  return text;
}

void SimMachine::add_lack_of_worker(const Thread& thread, uint32_t queued, StuckTask& stuck) const {
  const model::PoolId pool = row(queued).pool;
  stuck.reason += ", which is queued: no worker of pool " + model::pool_label(trace_, pool) + " is free";
  stuck.lacks = thread.pool == pool.value ? StuckTask::Lacks::worker_of_its_pool : StuckTask::Lacks::worker;
}

StuckTask SimMachine::stuck_for_task(const Thread& thread) const {
  StuckTask stuck{.task = {}, .waits_for = model::TaskId(thread.blocked_on), .reason = {}};
  stuck.reason = "waits for " + task_label(thread.blocked_on);
  if (states_[thread.blocked_on] == TaskState::queued) {
    add_lack_of_worker(thread, thread.blocked_on, stuck);
  } else if (states_[thread.blocked_on] == TaskState::running) {
    stuck.reason += ", which waits itself";
  } else {
    stuck.reason += ", which nobody starts or completes";
  }
  return stuck;
}

StuckTask SimMachine::stuck_for_token(const Thread& thread) const {
  StuckTask stuck;
  const uint32_t lacking = doers_ ? lacking_behind(thread.blocked_on) : kNone;
  if (lacking < program_.task_count() && states_[lacking] == TaskState::queued) {
    stuck.reason = "waits to be woken by " + task_label(lacking);
    add_lack_of_worker(thread, lacking, stuck);
  } else {
    stuck.reason = "waits to be woken by another thread, which waits itself";
  }
  return stuck;
}

StuckTask SimMachine::stuck_for_permits(const Thread& thread) const {
  const auto count = static_cast<uint32_t>(ops_[thread.stack.back().pc].value >> 32);
  const uint64_t size = permits_[thread.blocked_on].size;
  StuckTask stuck{.task = {}, .waits_for = {}, .reason = {}, .lacks = StuckTask::Lacks::permits};
  stuck.reason = fmt::format("waits for {} of {}: ", count == 1 ? "a permit" : fmt::format("{} permits", count),
                             model::pool_label(trace_, model::PoolId(thread.blocked_on)));
  stuck.reason += count > size ? fmt::format("there {} {}", size == 1 ? "is" : "are", size)
                               : fmt::format("whoever has some of the {} waits, too", size);
  return stuck;
}

void SimMachine::report_stuck_thread(uint32_t id, Simulation& result) const {
  const Thread& thread = threads_[id];
  StuckTask stuck;
  if (thread.mode == Mode::waiting) {
    stuck = stuck_for_task(thread);
  } else if (thread.mode == Mode::permits) {
    stuck = stuck_for_permits(thread);
  } else if (thread.mode == Mode::token) {
    stuck = stuck_for_token(thread);
  } else {
    return;
  }
  const uint32_t fiber = thread.stack.back().fiber;
  if (fiber < program_.task_count()) stuck.task = model::TaskId(fiber);
  result.stuck.push_back(std::move(stuck));
}

void SimMachine::report_stuck_task(uint32_t task, Simulation& result) const {
  const bool owed = fibers_[task].runs() && !program_.background[task];
  if (states_[task] == TaskState::ended || !owed) return;
  if (states_[task] == TaskState::running) return;  // its thread has been reported
  StuckTask stuck{.task = model::TaskId(task), .waits_for = {}, .reason = {}};
  if (states_[task] == TaskState::queued) {
    stuck.reason = "queued: pool " + model::pool_label(trace_, row(task).pool) + " has no free worker";
    stuck.lacks = StuckTask::Lacks::worker;
  } else {
    stuck.reason = "never set off: what spawns it, or its sources, did not get that far";
  }
  result.stuck.push_back(std::move(stuck));
}

// A load's clients come last: what holds up their answers says more.
void SimMachine::report_stuck(Simulation& result) const {
  constexpr size_t kReportsMax = 100;
  for (uint32_t task = 0; task < states_.size(); ++task) {
    for (uint32_t node = completed_[task] ? kNone : first_waiter_[task]; node != kNone; node = waiters_[node].next) {
      if (waiters_[node].is_thread || result.stuck.size() == kReportsMax) continue;
      const model::TaskId coordinator(parked_[waiters_[node].id].fiber);
      result.stuck.push_back({coordinator, model::TaskId(task), "a coordinator whose sub-task never completes"});
    }
  }
  for (uint32_t id = 0; id < threads_.size() && result.stuck.size() < kReportsMax; ++id) {
    if (!is_client(id)) report_stuck_thread(id, result);
  }
  for (uint32_t task = 0; task < states_.size() && result.stuck.size() < kReportsMax; ++task)
    report_stuck_task(task, result);
  for (uint32_t id = 0; id < threads_.size() && result.stuck.size() < kReportsMax; ++id) {
    if (is_client(id)) report_stuck_thread(id, result);
  }
}

}  // namespace contrafact::whatif
