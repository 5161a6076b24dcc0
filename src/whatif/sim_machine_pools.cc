// The machine's part about pools: which worker gets a queued task, which thread wakes or creates a worker, which helps.
#include "whatif/sim_machine.h"

#include <utility>
#include <vector>

namespace contrafact::whatif {

using model::EventKind;

void SimMachine::build_pools(const SimulateOptions& options) {
  std::vector<uint32_t> seen(trace_.pools.size());
  for (const model::ThreadUse& use : program_.uses) {
    if (use.role == model::ThreadRole::worker) ++seen[use.pool.index()];
  }
  pools_.resize(trace_.pools.size());
  for (uint32_t i = 0; i < pools_.size(); ++i) {
    SimPool& pool = pools_[i];
    pool.kind = trace_.pools[i].kind;
    pool.hands_over = trace_.pools[i].core_size == 0;
    pool.recorded = seen[i];
    pool.capacity = model::pool_capacity(trace_.pools[i], seen[i]);
    for (const PoolSize& size : options.pool_sizes) {
      if (size.pool.value == i) pool.capacity = size.workers;
    }
    // Only bounded pools of threads create a worker for each task until they are full.
    pool.core = pool.capacity;
    if (options.unlimited_pools) pool.capacity = model::kUnboundedPool;
    if (pool.core == model::kUnboundedPool) pool.core = 0;
    pool.latency = latencies_.pools[i];
  }
}

void SimMachine::build_permits(const SimulateOptions& options) {
  permits_.resize(program_.permits.size());
  for (uint32_t i = 0; i < permits_.size(); ++i) permits_[i].size = program_.permits[i];
  for (const PoolSize& size : options.pool_sizes) {
    if (size.pool.index() < permits_.size()) permits_[size.pool.index()].size = size.workers;
  }
  for (Permits& permits : permits_) permits.count = static_cast<int64_t>(permits.size);
}

void SimMachine::submit(uint32_t task, uint32_t by) {
  const uint32_t number = row(task).pool.value;
  SimPool& pool = pools_[number];
  if (!is_new(task)) return;
  states_[task] = TaskState::queued;
  if (pool.fork_join()) {
    const bool own = by != kNone && threads_[by].pool == number;
    (own ? pool.workers[threads_[by].worker].tasks : pool.queue).push_back(task);
    ++pool.queued;
    return signal(number, task);
  }
  const auto workers = static_cast<uint32_t>(pool.workers.size());
  if (pool.thread_per_task() || (workers < pool.core && workers < pool.capacity)) return create_worker(number, task);
  if (!pool.idle.empty() && pool.hands_over) return wake_idle(number, task, task);
  if (pool.idle.empty() && workers < pool.capacity) return create_worker(number, task);
  pool.queue.push_back(task);
  ++pool.queued;
  if (!pool.idle.empty()) wake_idle(number, kNone, task);
}

// A worker will be blocked: a fork-join pool lets an idle one take over, and creates a spare only to keep one going;
// other pools lose a worker.
void SimMachine::leave_pool(const Thread& thread) {
  if (thread.pool == kNone) return;
  SimPool& pool = pools_[thread.pool];
  --pool.active;
  if (pool.fork_join() && pool.queued > 0 && (pool.active == 0 || !pool.idle.empty())) signal(thread.pool, kNone);
}

// Fork-join: gets a worker to look for tasks if one may, or a thread that waits, `task` being new. Beyond the
// parallelism, a JVM creates one only if no other is going.
void SimMachine::signal(uint32_t number, uint32_t task) {
  SimPool& pool = pools_[number];
  if (pool.waking >= pool.queued) return;
  if (task != kNone && call_helper(number, task)) return;
  if (pool.active >= pool.capacity) return;
  if (!pool.idle.empty()) return wake_idle(number, kNone, kNone);
  const bool needs_spare = pool.active == 0 && !program_.conventions.waiters_run_tasks;
  if (pool.workers.size() < pool.capacity || needs_spare) create_worker(number, kNone);
}

// Whether a thread that waits for `awaited` would run the task meanwhile: one of those that it waits for, or one that was
// spawned below its own, or, outside of such tasks, any that was. A task that was not is a thread's part of a team's
// work, and meant for another worker.
bool SimMachine::would_run(uint32_t id, uint32_t task, uint32_t awaited) const {
  if (program_.parents[task] == kNone) return pools_[row(task).pool.value].waking == 0;
  const uint32_t fiber = threads_[id].stack.back().fiber;
  const bool is_within = fiber < program_.task_count() && program_.parents[fiber] != kNone;
  return !is_within || is_part(task, fiber) || is_source(task, awaited);
}

bool SimMachine::is_source(uint32_t task, uint32_t of) const {
  for (uint32_t i = program_.dependents_begin[task]; i < program_.dependents_begin[task + 1]; ++i) {
    if (program_.dependents[i] == of) return true;
  }
  return false;
}

// The thread begins to wait for a future during which it runs other tasks: it is called when there are some.
void SimMachine::await_calls(uint32_t id, uint32_t awaited) {
  const uint32_t number = program_.helped.empty() ? kNone : program_.helped[awaited];
  if (number == kNone) return;
  threads_[id].helps = number;
  pools_[number].helpers.push_back(id);
}

// Lets the thread that has waited longest, among those that would run the task, look for one.
bool SimMachine::call_helper(uint32_t number, uint32_t task) {
  SimPool& pool = pools_[number];
  for (const uint32_t id : pool.helpers) {
    Thread& thread = threads_[id];
    if (thread.is_called || thread.mode != Mode::waiting || completed_[thread.blocked_on]) continue;
    if (!would_run(id, task, thread.blocked_on)) continue;
    thread.is_called = true;
    ++pool.waking;
    clock_.at(clock_.now_ns() + pool.latency.idle_ns, TimedKind::resume, id);
    return true;
  }
  return false;
}

void SimMachine::end_help(uint32_t id) {
  Thread& thread = threads_[id];
  SimPool& pool = pools_[std::exchange(thread.helps, kNone)];
  std::erase(pool.helpers, id);
  if (std::exchange(thread.is_called, false)) --pool.waking;
}

void SimMachine::create_worker(uint32_t number, uint32_t task) {
  SimPool& pool = pools_[number];
  const auto id = static_cast<uint32_t>(threads_.size());
  Thread& thread = threads_.add();
  thread.stream = out_.worker_stream(number, clock_.now_ns());
  thread.pool = number;
  thread.worker = static_cast<uint32_t>(pool.workers.size());
  thread.reserved = task;
  if (!program_.own_values.empty() && thread.worker >= pool.recorded) thread.before_first = program_.own_values[number];
  out_.write(thread.stream, clock_.now_ns(), EventKind::worker_idle, number, pool.queued);
  pool.workers.push_back({id, {}});
  ++pool.active;
  if (task == kNone) ++pool.waking;
  const int64_t fresh_ns = start_latency_ns(task, HandOver::Kind::fresh, pool.latency.fresh_ns);
  clock_.at(clock_.now_ns() + fresh_ns, TimedKind::resume, id);
}

// The worker runs `task`, or, if that is kNone, any task that is queued when it comes. `woken_by`: the task for which
// it is woken.
void SimMachine::wake_idle(uint32_t number, uint32_t task, uint32_t woken_by) {
  SimPool& pool = pools_[number];
  const uint32_t id = pool.workers[pool.idle.front()].thread;
  pool.idle.pop_front();
  threads_[id].mode = Mode::starting;
  threads_[id].reserved = task;
  ++pool.active;
  if (task == kNone) ++pool.waking;
  const int64_t idle_ns = start_latency_ns(woken_by, HandOver::Kind::idle, pool.latency.idle_ns);
  clock_.at(clock_.now_ns() + idle_ns, TimedKind::resume, id);
}

void SimMachine::go_idle(uint32_t id) {
  Thread& thread = threads_[id];
  SimPool& pool = pools_[thread.pool];
  // A worker that woke for nothing is idle in the trace already.
  if (thread.mode != Mode::starting) out_.write(thread.stream, clock_.now_ns(), EventKind::worker_idle, thread.pool, 0);
  thread.mode = Mode::idle;
  pool.idle.push_back(thread.worker);
  --pool.active;
}

// A thread that waits in a fork-join pool runs the awaited task itself if no worker has taken it, or else a task of the
// worker that runs it.
bool SimMachine::help(uint32_t id, uint32_t task) {
  if (joins_group(task)) task = groups_.last_of(task);
  if (!is_queued(task) && !parts_pool_.empty() && parts_pool_[task] != kNone) return help_with_parts(id, task);
  if (!program_.helped.empty() && program_.helped[task] != kNone) return help_with_others(id, task);
  const uint32_t number = row(task).pool.value;
  if (number == kNone || !pools_[number].fork_join()) return false;
  SimPool& pool = pools_[number];
  if (threads_[id].pool != number && !program_.external_help[number]) return false;
  if (is_queued(task)) {
    --pool.queued;
    push_frame(id, task);
    return true;
  }
  if (states_[task] != TaskState::running) return false;
  const Thread& runner = threads_[run_by_[task]];
  if (runner.pool != number || run_by_[task] == id) return false;
  const uint32_t other = pool.take_oldest(runner.worker, [&](uint32_t t) { return is_queued(t); });
  if (other == kNone) return false;
  push_frame(id, other);
  return true;
}

// A thread that waits for a counted completer (a parallel stream is one) runs tasks that were forked below it: first
// its own newest, then the oldest of others. Tasks that outsiders forked lie in the pool's common queue.
bool SimMachine::help_with_parts(uint32_t id, uint32_t task) {
  return help_pool(id, parts_pool_[task], [&](uint32_t t) { return is_part(t, task); });
}

bool SimMachine::help_with_others(uint32_t id, uint32_t task) {
  return help_pool(id, program_.helped[task], [&](uint32_t t) { return would_run(id, t, task); });
}

template <typename IsWanted>
bool SimMachine::help_pool(uint32_t id, uint32_t number, IsWanted is_wanted) {
  SimPool& pool = pools_[number];
  const bool outsider = threads_[id].pool != number;
  if (outsider && !program_.external_help[number]) return false;
  const auto is_waiting = [&](uint32_t t) { return is_queued(t); };
  const uint32_t own = outsider ? kNone : threads_[id].worker;
  uint32_t part = pool.take_newest_part(outsider ? pool.queue : pool.workers[own].tasks, is_waiting, is_wanted);
  for (uint32_t i = 0; i < pool.workers.size() && part == kNone; ++i) {
    if (i != own) part = pool.take_oldest_part(pool.workers[i].tasks, is_waiting, is_wanted);
  }
  if (part == kNone && !outsider) part = pool.take_oldest_part(pool.queue, is_waiting, is_wanted);
  if (part == kNone) return false;
  push_frame(id, part);
  return true;
}

bool SimMachine::is_part(uint32_t task, uint32_t of) const {
  // The bound is for damaged traces, in which tasks may spawn each other in a circle.
  for (size_t levels = program_.parents.size(); task != UINT32_MAX && levels > 0; --levels) {
    task = program_.parents[task];
    if (task == of) return true;
  }
  return false;
}

// Pools that were shut down in the recording end their workers after their last task here too.
void SimMachine::end_workers() {
  for (uint32_t number = 0; number < pools_.size(); ++number) {
    SimPool& pool = pools_[number];
    if (!out_.workers_end(number) || pool.thread_per_task()) continue;
    for (const SimPool::Worker& worker : pool.workers) {
      const Thread& thread = threads_[worker.thread];
      if (thread.mode != Mode::idle) continue;
      out_.write(thread.stream, pool.last_end_ns, EventKind::worker_busy, number, 0);
      out_.write(thread.stream, pool.last_end_ns, EventKind::thread_end);
    }
  }
}

}  // namespace contrafact::whatif
