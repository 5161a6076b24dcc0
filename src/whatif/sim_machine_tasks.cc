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
  if (treatment(task) != Treatment::keep) {
    out_.write_create(thread.stream, now_ns, task);
    if (!thread.stack.empty() && !thread.stack.back().skips)
      thread.stack.back().credit_ns = program_.costs->spawn_ns[task] + program_.costs->start_ns[task];
    if (treatment(task) != Treatment::inline_at_wait) push_frame(id, task);
    return;
  }
  out_.copy(thread.stream, now_ns, event);
  const model::TaskRow& spawned = row(task);
  if (spawned.kind == TaskKind::thread) {
    const uint32_t started = trace_.thread_of(spawned.start).value;
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

void SimMachine::complete(uint32_t id, uint32_t task) {
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
