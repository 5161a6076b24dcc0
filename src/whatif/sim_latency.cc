#include "whatif/sim_latency.h"

#include <algorithm>

#include "model/task_walk.h"

namespace contrafact::whatif {
namespace {

using model::EventKind;
using model::FrameKind;
using model::TaskKind;
using model::TaskRow;
using model::TaskWalk;
using model::Trace;

int64_t median(std::vector<int64_t>& samples_ns) {
  if (samples_ns.empty()) return 0;
  const auto middle = samples_ns.begin() + static_cast<int64_t>((samples_ns.size() - 1) / 2);
  std::nth_element(samples_ns.begin(), middle, samples_ns.end());
  return *middle;
}

struct PoolSamples {
  std::vector<int64_t> fresh_ns, idle_ns, turnaround_ns;
};

class Sampler {
 public:
  Sampler(const Trace& trace, const std::vector<model::ThreadUse>& uses)
      : trace_(trace), uses_(uses), pools_(trace.pools.size()) {}

  Latencies run() {
    for (uint32_t i = 0; i < trace_.threads.size(); ++i) walk_thread(i);
    for (const TaskRow& task : trace_.tasks) {
      if (task.kind == TaskKind::thread && task.spawn.valid() && task.start.valid()) {
        thread_ns_.push_back(std::max<int64_t>(0, time(task.start) - time(task.spawn)));
      }
    }
    Latencies result;
    for (PoolSamples& pool : pools_)
      result.pools.push_back({median(pool.fresh_ns), median(pool.idle_ns), median(pool.turnaround_ns)});
    for (PoolLatency& pool : result.pools) {
      // A pool that never showed one of the cases: take the nearest.
      if (pool.idle_ns == 0) pool.idle_ns = std::min(pool.fresh_ns, median(wait_ns_));
    }
    result.wait_ns = median(wait_ns_);
    result.thread_ns = median(thread_ns_);
    return result;
  }

 private:
  int64_t time(model::EventIndex event) const { return trace_.time_ns[event.index()]; }

  void walk_thread(uint32_t thread) {
    bool any_before = false;  // a pooled task on this thread
    int64_t last_end_ns = 0;
    for (TaskWalk walk(trace_, model::ThreadId(thread)); walk.next();) {
      if (walk.kind() == EventKind::task_start) {
        sample_start(walk, thread, any_before, last_end_ns);
      } else if (walk.kind() == EventKind::task_end && walk.has_closed()) {
        if (trace_.tasks[walk.a()].kind != TaskKind::pooled) continue;
        any_before = true;
        last_end_ns = walk.time_ns();
      } else if (walk.kind() == EventKind::wait_end && walk.has_closed()) {
        sample_wait(walk);
      }
    }
  }

  void sample_start(const TaskWalk& walk, uint32_t thread, bool any_before, int64_t last_end_ns) {
    const TaskRow& task = trace_.tasks[walk.a()];
    if (task.kind != TaskKind::pooled || !task.spawn.valid() || !task.pool.valid() || task.truncated) return;
    if (uses_[thread].role != model::ThreadRole::worker) return;
    const auto& stack = walk.stack();
    if (stack.size() >= 2 && stack[stack.size() - 2].kind == FrameKind::wait) return;  // a helper
    PoolSamples& pool = pools_[task.pool.index()];
    const int64_t due_ns = time(task.spawn) + int64_t{task.delay_us} * 1000;
    const int64_t start_ns = walk.time_ns();
    if (!any_before) {
      pool.fresh_ns.push_back(std::max<int64_t>(0, start_ns - due_ns));
    } else if (due_ns >= last_end_ns) {
      pool.idle_ns.push_back(std::max<int64_t>(0, start_ns - due_ns));
    } else {
      pool.turnaround_ns.push_back(std::max<int64_t>(0, start_ns - last_end_ns));
    }
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
  std::vector<PoolSamples> pools_;
  std::vector<int64_t> wait_ns_, thread_ns_;
};

}  // namespace

int64_t completion_ns(const Trace& trace, model::TaskId task) {
  const TaskRow& row = trace.tasks[task.index()];
  if (row.complete.valid()) return trace.time_ns[row.complete.index()];
  if (row.end.valid() && !row.truncated) return trace.time_ns[row.end.index()];
  return INT64_MAX;
}

Latencies measure_latencies(const Trace& trace, const std::vector<model::ThreadUse>& uses) {
  return Sampler(trace, uses).run();
}

}  // namespace contrafact::whatif
