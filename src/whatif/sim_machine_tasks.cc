// The machine's part about tasks: how they are handed out, completed, and set off by others.
#include "whatif/sim_machine.h"
#include "whatif/sim_periods.h"

namespace contrafact::whatif {

using model::EventKind;
using model::TaskKind;

void SimMachine::spawn(uint32_t id, uint32_t task, uint32_t event) {
  Thread& thread = threads_[id];
  const int64_t now_ns = clock_.now_ns();
  if (!is_new(task)) return out_.copy(thread.stream, now_ns, event);
  if (is_called_now(task)) {
    out_.write_create(thread.stream, now_ns, task);
    if (!thread.stack.empty() && !thread.stack.back().skips)
      thread.stack.back().credit_ns =
          program_.left_out.spawn_ns(*program_.costs, task) + program_.costs->start_ns[task];
    if (joins_group(task)) return leave_out_thread(task);
    if (treatment(task) != Treatment::inline_at_wait) push_frame(id, task);
    return;
  }
  out_.copy(thread.stream, now_ns, event);
  const model::TaskRow& spawned = row(task);
  if (spawned.kind == TaskKind::thread) {
    const uint32_t started = program_.thread_of_run(task);
    const int64_t start_ns = start_latency_ns(task, HandOver::Kind::fresh, latencies_.thread_ns);
    return clock_.at(now_ns + start_ns, TimedKind::release, started);
  }
  const int64_t due_ns = due_time_ns(task);
  if (due_ns > now_ns) return clock_.at(due_ns, TimedKind::due, task);
  submit(task, id);
}

// When the task may start, were it handed out now.
int64_t SimMachine::due_time_ns(uint32_t task) const {
  const int64_t periodic_ns = program_.periodic_due_ns.empty() ? kNoDueTime : program_.periodic_due_ns[task];
  return periodic_ns == kNoDueTime ? clock_.now_ns() + int64_t{row(task).delay_us} * 1000 : periodic_ns;
}

// Whether no pool gets the task by itself: it is called, or the last of its group is handed out for it.
bool SimMachine::is_called_now(uint32_t task) const {
  return is_new(task) && (treatment(task) != Treatment::keep || joins_group(task));
}

// Whether the task runs as a part of a group whose last member is handed out in its stead.
bool SimMachine::joins_group(uint32_t task) const {
  return groups_.has(task) && groups_.last_of(task) != task;
}

// Whether the task has done what completes it. The results of a group's members are there when all have.
bool SimMachine::is_answered(uint32_t task) const {
  return completed_[task] || (groups_.has(task) && answered_[task]);
}

// A thread whose run joins a group is never started: the run does not wait for it.
void SimMachine::leave_out_thread(uint32_t task) {
  if (row(task).kind != TaskKind::thread) return;
  const uint32_t fiber = program_.thread_fiber(program_.thread_of_run(task));
  if (fibers_[fiber].runs() && !program_.background[fiber]) --foreground_;
}

// The other members of the group run before the last one, in the order in which they were handed out.
void SimMachine::push_group(uint32_t id, uint32_t last) {
  const std::span<const uint32_t> members = groups_.of(groups_.of_task[last]);
  for (size_t i = members.size() - 1; i-- > 0;) {
    if (is_new(members[i])) push_frame(id, members[i]);
  }
}

void SimMachine::complete(uint32_t id, uint32_t task) {
  if (groups_.has(task)) {
    if (answered_[task]) return;
    answered_[task] = true;
    const uint32_t group = groups_.of_task[task];
    if (--unanswered_[group] > 0) return;
    const std::span<const uint32_t> members = groups_.of(group);
    chain_.insert(chain_.end(), members.rbegin(), members.rend());
    return notify_all(id);
  }
  chain_.push_back(task);
  notify_all(id);
}

// Completing one future may complete others: a list, not a recursion.
void SimMachine::notify_all(uint32_t id) {
  while (!chain_.empty()) {
    const uint32_t task = chain_.back();
    chain_.pop_back();
    notify(id, task);
  }
}

// Lets everything go on that the task's completion allows.
void SimMachine::notify(uint32_t id, uint32_t task) {
  if (completed_[task]) return;
  completed_[task] = true;
  for (uint32_t node = first_waiter_[task]; node != kNone; node = waiters_[node].next) {
    const Waiter waiter = waiters_[node];
    if (waiter.is_thread) {
      // While it runs another task, or is on its way to look for one, it finds by itself that this one is complete.
      const Thread& thread = threads_[waiter.id];
      if (thread.mode != Mode::waiting || thread.blocked_on != task || thread.is_called) continue;
      clock_.at(clock_.now_ns() + wait_latency_ns(waiter.id), TimedKind::resume, waiter.id);
      continue;
    }
    Frame rest = parked_[waiter.id];
    rest.written = out_.add_continuation(threads_[id].stream, clock_.now_ns(), rest.fiber, task);
    out_.write(threads_[id].stream, clock_.now_ns(), EventKind::task_start, rest.written);
    threads_[id].stack.push_back(rest);
  }
  if (!takings_.empty() && program_.taken_in[task] != kNone) {
    Taking& taking = takings_[program_.taken_in[task]];
    taking.there.push_back(task);
    if (!taking.waiting.empty()) {
      const uint32_t taker = taking.waiting.front();
      taking.waiting.pop_front();
      clock_.at(clock_.now_ns() + wait_latency_ns(taker), TimedKind::resume, taker);
    }
  }
  for (uint32_t i = program_.dependents_begin[task]; i < program_.dependents_begin[task + 1]; ++i) {
    const uint32_t dependent = program_.dependents[i];
    if (needs_[dependent] == 0 || --needs_[dependent] > 0) continue;
    if (registered_[dependent]) set_off(id, dependent);
  }
}

// A task whose sources are complete: a stage runs here, a pooled one is handed out, a future without a body is
// complete.
void SimMachine::set_off(uint32_t id, uint32_t task) {
  const model::TaskRow& ready = row(task);
  if (ready.kind == TaskKind::stage) {
    if (is_new(task)) push_frame(id, task);
    return;
  }
  if (ready.kind == TaskKind::pooled) {
    if (ready.start.valid()) spawn(id, task, ready.spawn.value);
    return;
  }
  if (ready.complete.valid()) out_.copy(threads_[id].stream, clock_.now_ns(), ready.complete.value);
  chain_.push_back(task);
}

// The coordinator gives its thread back; what follows its wait runs when the awaited task completes.
void SimMachine::detach(uint32_t id, uint32_t awaited) {
  Thread& thread = threads_[id];
  Frame rest = thread.stack.back();
  thread.stack.pop_back();
  rest.pc += 2;  // the wait and its end
  out_.write(thread.stream, clock_.now_ns(), EventKind::task_end, rest.written);
  const auto node = static_cast<uint32_t>(waiters_.size());
  waiters_.push_back({false, static_cast<uint32_t>(parked_.size()), kNone});
  parked_.push_back(rest);
  (first_waiter_[awaited] == kNone ? first_waiter_[awaited] : waiters_[last_waiter_[awaited]].next) = node;
  last_waiter_[awaited] = node;
}

}  // namespace contrafact::whatif
