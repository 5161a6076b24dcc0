#include "whatif/sim_latency.h"

#include <algorithm>

#include "model/task_walk.h"
#include "whatif/sim_crowding.h"

namespace contrafact::whatif {
namespace {

using model::EventKind;
using model::FrameKind;
using model::TaskKind;
using model::TaskRow;
using model::TaskWalk;
using model::Trace;

struct PoolSamples {
  std::vector<int64_t> fresh_ns, idle_ns, turnaround_ns, help_before_ns, help_after_ns;
};

// Calls `found(task, kind, from_ns, start_ns)` for each hand-over of a task to a pool's worker; it took from one time
// to the other.
template <typename Found>
void for_each_hand_over(const Trace& trace, const std::vector<model::ThreadUse>& uses, uint32_t thread, Found&& found) {
  if (uses[thread].role != model::ThreadRole::worker) return;
  bool any_before = false;  // a pooled task on this thread
  int64_t last_end_ns = 0;
  for (TaskWalk walk(trace, model::ThreadId(thread)); walk.next();) {
    if (walk.kind() == EventKind::task_end && walk.has_closed()) {
      if (trace.tasks[walk.a()].kind != TaskKind::pooled) continue;
      any_before = true;
      last_end_ns = walk.time_ns();
    }
    if (walk.kind() != EventKind::task_start) continue;
    const TaskRow& task = trace.tasks[walk.a()];
    if (task.kind != TaskKind::pooled || !task.spawn.valid() || !task.pool.valid() || task.truncated) continue;
    const auto& stack = walk.stack();
    if (stack.size() >= 2 && stack[stack.size() - 2].kind == FrameKind::wait) continue;  // a helper
    const int64_t due_ns = trace.time_ns[task.spawn.index()] + int64_t{task.delay_us} * 1000;
    const bool waited_for_worker = any_before && due_ns < last_end_ns;
    const HandOver::Kind kind = !any_before         ? HandOver::Kind::fresh
                                : waited_for_worker ? HandOver::Kind::turnaround
                                                    : HandOver::Kind::idle;
    found(walk.a(), kind, waited_for_worker ? last_end_ns : due_ns, walk.time_ns());
  }
}

class Sampler {
 public:
  Sampler(const Trace& trace, const std::vector<model::ThreadUse>& uses, double quantile)
      : trace_(trace), uses_(uses), quantile_(quantile), pools_(trace.pools.size()) {}

  Latencies run() {
    for (uint32_t i = 0; i < trace_.threads.size(); ++i) walk_thread(i);
    for (const TaskRow& task : trace_.tasks) {
      if (task.kind == TaskKind::thread && task.spawn.valid() && task.start.valid()) {
        thread_ns_.push_back(std::max<int64_t>(0, time(task.start) - time(task.spawn)));
      }
    }
    Latencies result;
    for (PoolSamples& pool : pools_)
      result.pools.push_back({quantile_ns(pool.fresh_ns, quantile_), quantile_ns(pool.idle_ns, quantile_),
                              quantile_ns(pool.turnaround_ns, quantile_),
                              median_ns(pool.help_before_ns) + median_ns(pool.help_after_ns)});
    for (PoolLatency& pool : result.pools) {
      // A pool that never showed one of the cases: take the nearest.
      if (pool.idle_ns == 0) pool.idle_ns = std::min(pool.fresh_ns, quantile_ns(wait_ns_, quantile_));
    }
    result.wait_ns = quantile_ns(wait_ns_, quantile_);
    result.thread_ns = quantile_ns(thread_ns_, quantile_);
    return result;
  }

 private:
  int64_t time(model::EventIndex event) const { return trace_.time_ns[event.index()]; }

  void walk_thread(uint32_t thread) {
    for_each_hand_over(trace_, uses_, thread,
                       [&](uint32_t task, HandOver::Kind kind, int64_t from_ns, int64_t start_ns) {
                         PoolSamples& pool = pools_[trace_.tasks[task].pool.index()];
                         (kind == HandOver::Kind::fresh  ? pool.fresh_ns
                          : kind == HandOver::Kind::idle ? pool.idle_ns
                                                         : pool.turnaround_ns)
                             .push_back(std::max<int64_t>(0, start_ns - from_ns));
                       });
    for (TaskWalk walk(trace_, model::ThreadId(thread)); walk.next();) {
      if (walk.kind() == EventKind::wait_end && walk.has_closed()) sample_wait(walk);
      if (walk.kind() == EventKind::task_start) sample_help(walk);
    }
  }

  // A task that the thread runs while it waits, directly after the wait's begin; and, if the wait is over with it, the
  // time until then.
  void sample_help(const TaskWalk& walk) {
    const TaskRow& task = trace_.tasks[walk.a()];
    const auto& stack = walk.stack();
    const bool in_wait = stack.size() >= 2 && stack[stack.size() - 2].kind == FrameKind::wait;
    if (!in_wait || !task.pool.valid() || !task.end.valid()) return;
    if (trace_.pools[task.pool.index()].kind != format::PoolKind::fork_join) return;
    const uint32_t start = walk.event().value;
    if (stack[stack.size() - 2].begin.value + 1 != start) return;
    PoolSamples& pool = pools_[task.pool.index()];
    pool.help_before_ns.push_back(trace_.time_ns[start] - trace_.time_ns[start - 1]);
    const uint32_t after = task.end.value + 1;
    if (after < trace_.event_count() && trace_.kind[after] == EventKind::wait_end)
      pool.help_after_ns.push_back(std::max<int64_t>(0, trace_.time_ns[after] - trace_.time_ns[after - 1]));
  }

  void sample_wait(const TaskWalk& walk) {
    const model::Frame& wait = walk.closed();
    if (!wait.task.valid() || static_cast<model::Outcome>(walk.b()) == model::Outcome::timeout) return;
    const int64_t completed_ns = completion_ns(trace_, wait.task);
    if (completed_ns > time(wait.begin) && completed_ns <= walk.time_ns())
      wait_ns_.push_back(walk.time_ns() - completed_ns);
  }

  const Trace& trace_;
  const std::vector<model::ThreadUse>& uses_;
  const double quantile_;
  std::vector<PoolSamples> pools_;
  std::vector<int64_t> wait_ns_, thread_ns_;
};

}  // namespace

int64_t median_ns(std::vector<int64_t>& samples_ns) {
  return quantile_ns(samples_ns, 0.5);
}

int64_t quantile_ns(std::vector<int64_t>& samples_ns, double quantile) {
  if (samples_ns.empty()) return 0;
  const double last = static_cast<double>(samples_ns.size() - 1);
  const auto at = samples_ns.begin() + static_cast<int64_t>(std::clamp(quantile, 0.0, 1.0) * last);
  std::nth_element(samples_ns.begin(), at, samples_ns.end());
  return *at;
}

int64_t start_pause_ns(const Trace& trace, double quantile) {
  std::vector<int64_t> pauses_ns;
  for (const TaskRow& task : trace.tasks) {
    if (task.kind != TaskKind::thread || !task.spawn.valid()) continue;
    const model::ThreadId starter = trace.thread_of(task.spawn);
    const uint32_t next = task.spawn.value + 1;
    if (starter.index() >= trace.cpu.size() || next >= trace.thread_events(starter).end) continue;
    const auto& gaps = trace.cpu[starter.index()];
    auto gap = std::ranges::lower_bound(gaps, trace.time_ns[task.spawn.index()], {}, &model::CpuGap::out_ns);
    for (; gap != gaps.end() && gap->in_ns <= trace.time_ns[next]; ++gap) {
      if (!gap->preempted) pauses_ns.push_back(gap->in_ns - gap->out_ns);
    }
  }
  return quantile_ns(pauses_ns, quantile);
}

int64_t completion_ns(const Trace& trace, model::TaskId task) {
  const TaskRow& row = trace.tasks[task.index()];
  if (row.complete.valid()) return trace.time_ns[row.complete.index()];
  if (row.end.valid() && !row.truncated) return trace.time_ns[row.end.index()];
  return INT64_MAX;
}

Latencies measure_latencies(const Trace& trace, const std::vector<model::ThreadUse>& uses, double quantile) {
  return Sampler(trace, uses, quantile).run();
}

std::vector<HandOver> measure_hand_overs(const Trace& trace, const std::vector<model::ThreadUse>& uses,
                                         const Latencies& latencies, const Crowding& crowding) {
  std::vector<HandOver> hand_overs(trace.tasks.size());
  const auto note = [&](uint32_t task, HandOver::Kind kind, int64_t from_ns, int64_t start_ns, int64_t typical_ns) {
    if (start_ns < from_ns) return;
    hand_overs[task] = {kind, own_latency_ns(start_ns - from_ns, crowding.ns(from_ns, start_ns), typical_ns)};
  };
  for (uint32_t i = 0; i < trace.threads.size(); ++i) {
    for_each_hand_over(trace, uses, i, [&](uint32_t task, HandOver::Kind kind, int64_t from_ns, int64_t start_ns) {
      const model::PoolId pool = trace.tasks[task].pool;
      // A fork-join pool wakes a worker for no task in particular.
      if (trace.pools[pool.index()].kind == format::PoolKind::fork_join) return;
      const PoolLatency& typical = latencies.pools[pool.index()];
      note(task, kind, from_ns, start_ns,
           kind == HandOver::Kind::fresh  ? typical.fresh_ns
           : kind == HandOver::Kind::idle ? typical.idle_ns
                                          : typical.turnaround_ns);
    });
  }
  for (uint32_t i = 0; i < trace.tasks.size(); ++i) {
    const TaskRow& task = trace.tasks[i];
    if (task.kind != TaskKind::thread || !task.spawn.valid() || !task.start.valid()) continue;
    note(i, HandOver::Kind::fresh, trace.time_ns[task.spawn.index()], trace.time_ns[task.start.index()],
         latencies.thread_ns);
  }
  return hand_overs;
}

}  // namespace contrafact::whatif
