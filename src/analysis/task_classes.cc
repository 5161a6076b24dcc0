#include "analysis/task_classes.h"

#include <algorithm>
#include <numeric>
#include <unordered_map>

#include "analysis/spawn_places.h"
#include "model/library_calls.h"
#include "model/task_walk.h"

namespace contrafact::analysis {
namespace {

using model::EventKind;
using model::FrameKind;
using model::TaskId;
using model::TaskRow;
using model::TaskWalk;
using model::ThreadId;
using model::Trace;

// One task's own time: what passed on its thread while it was the innermost task.
struct OwnTime {
  int64_t self_ns = 0;
  int64_t wait_ns = 0;
  int64_t block_ns = 0;
  int64_t off_cpu_ns = 0;
};

// Answers "how much of [begin, end) was this thread off its core" for ranges that only move forward.
class OffCpu {
 public:
  explicit OffCpu(const std::vector<model::CpuGap>& gaps) : gaps_(gaps) {}

  int64_t within(int64_t begin_ns, int64_t end_ns) {
    int64_t sum_ns = 0;
    while (at_ < gaps_.size() && gaps_[at_].in_ns <= begin_ns) ++at_;
    for (size_t i = at_; i < gaps_.size() && gaps_[i].out_ns < end_ns; ++i) {
      sum_ns += std::min(end_ns, gaps_[i].in_ns) - std::max(begin_ns, gaps_[i].out_ns);
    }
    return sum_ns;
  }

 private:
  const std::vector<model::CpuGap>& gaps_;
  size_t at_ = 0;
};

void measure_thread(const Trace& trace, ThreadId thread, const std::vector<model::CpuGap>& gaps,
                    std::vector<OwnTime>& own) {
  OffCpu off_cpu(gaps);
  TaskId task;  // innermost before the event at hand
  bool waits = false, blocks = false;
  int64_t since_ns = 0;
  for (TaskWalk walk(trace, thread); walk.next();) {
    const int64_t now_ns = walk.time_ns();
    if (task.valid() && now_ns > since_ns) {
      OwnTime& time = own[task.index()];
      time.self_ns += now_ns - since_ns;
      if (waits) time.wait_ns += now_ns - since_ns;
      if (blocks) time.block_ns += now_ns - since_ns;
      time.off_cpu_ns += off_cpu.within(since_ns, now_ns);
    }
    task = walk.task();
    waits = walk.in(FrameKind::wait);
    blocks = walk.in(FrameKind::block);
    since_ns = now_ns;
  }
}

// The tasks' classes, numbered in order of their first task.
struct Classes {
  std::vector<uint32_t> of_task;
  std::vector<TaskClass> classes;
};

// The pool whose tasks a worker's run holds; none: it ran none and was never idle.
model::PoolId pool_served(const Trace& trace, const TaskRow& worker) {
  if (!worker.start.valid()) return {};
  const uint32_t end = worker.end.valid() ? worker.end.value : worker.start.value;
  for (uint32_t i = worker.start.value + 1; i < end; ++i) {
    const uint32_t operand = trace.a[i];
    if (trace.kind[i] == EventKind::worker_idle || trace.kind[i] == EventKind::worker_busy) {
      if (operand != model::PoolId::kNone) return model::PoolId(operand);
    } else if (trace.kind[i] == EventKind::task_start && operand != TaskId::kNone) {
      if (const model::PoolId pool = trace.tasks[operand].pool; pool.valid()) return pool;
    }
  }
  return {};
}

// A pool starts its workers wherever a task happens to be handed to it. So only their pools distinguish workers.
uint64_t key_of_worker(const TaskRow& worker, model::PoolId pool) {
  return uint64_t{worker.body.value} << 32 | pool.value;
}

uint64_t key_of(const TaskRow& task, model::ContextId place, ClassKey key) {
  const uint64_t body = key == ClassKey::context ? 0 : task.body.value;
  const uint64_t context = key == ClassKey::body ? 0 : place.value;
  return body << 32 | context;
}

Classes classify(const Trace& trace, ClassKey key) {
  Classes result;
  std::unordered_map<uint64_t, uint32_t> numbers, numbers_of_workers;
  result.of_task.reserve(trace.tasks.size());
  SpawnPlaces places(trace);
  for (const TaskRow& task : trace.tasks) {
    const bool works = model::is_worker_run(trace, task);
    const model::ContextId place = places.of(task);
    const model::PoolId pool = works ? pool_served(trace, task) : task.pool;
    const auto next = static_cast<uint32_t>(result.classes.size());
    const auto [entry, is_new] = works ? numbers_of_workers.try_emplace(key_of_worker(task, pool), next)
                                       : numbers.try_emplace(key_of(task, place, key), next);
    result.of_task.push_back(entry->second);
    if (is_new) {
      TaskClass fresh;
      fresh.body = task.body;
      fresh.context = place;
      fresh.pool = pool;
      fresh.kind = task.kind;
      fresh.workers = works;
      result.classes.push_back(fresh);
      continue;
    }
    TaskClass& known = result.classes[entry->second];
    if (known.body != task.body) known.body = {};
    if (known.context != place) known.context = {};
    if (known.pool != pool) known.pool = {};
  }
  return result;
}

bool failed(const Trace& trace, const TaskRow& task) {
  const auto says_exception = [&](model::EventIndex event) {
    return event.valid() && trace.b[event.index()] == static_cast<uint32_t>(model::Outcome::exception);
  };
  return says_exception(task.end) || says_exception(task.complete);
}

// The four distributions of one class, kept as vectors so that their memory serves class after class.
struct Samples {
  std::vector<int64_t> duration, queueing, wait, block;
  void clear() {
    duration.clear();
    queueing.clear();
    wait.clear();
    block.clear();
  }
};

void add_task(const Trace& trace, const TaskRow& task, const OwnTime& own, TaskClass& c, Samples& samples) {
  ++c.count;
  if (task.dropped) ++c.dropped;
  if (failed(trace, task)) ++c.exceptions;
  if (!task.start.valid()) return;
  ++c.started;
  const int64_t start_ns = trace.time_ns[task.start.index()];
  if (task.spawn.valid()) {
    const int64_t due_ns = trace.time_ns[task.spawn.index()] + int64_t{task.delay_us} * 1000;
    samples.queueing.push_back(std::max<int64_t>(0, start_ns - due_ns));
  }
  if (!task.end.valid()) return;
  ++c.finished;
  samples.duration.push_back(trace.time_ns[task.end.index()] - start_ns);
  samples.wait.push_back(own.wait_ns);
  samples.block.push_back(own.block_ns);
  c.self_ns += own.self_ns;
}

void finish_class(TaskClass& c, Samples& samples, int64_t off_cpu_ns, bool cpu_known) {
  c.duration = summarise(samples.duration);
  c.queueing = summarise(samples.queueing);
  c.wait = summarise(samples.wait);
  c.block = summarise(samples.block);
  if (c.self_ns == 0) return;
  const double self = static_cast<double>(c.self_ns);
  c.wait_share = static_cast<double>(c.wait.total_ns) / self;
  c.block_share = static_cast<double>(c.block.total_ns) / self;
  if (cpu_known) c.cpu_share = 1.0 - static_cast<double>(off_cpu_ns) / self;
}

}  // namespace

std::vector<TaskClass> task_classes(const Trace& trace, ClassKey key) {
  static const std::vector<model::CpuGap> no_gaps;
  std::vector<OwnTime> own(trace.tasks.size());
  bool cpu_known = false;
  for (uint32_t i = 0; i < trace.threads.size(); ++i) {
    const auto& gaps = i < trace.cpu.size() ? trace.cpu[i] : no_gaps;
    cpu_known |= !gaps.empty();
    measure_thread(trace, ThreadId(i), gaps, own);
  }

  auto [of_task, classes] = classify(trace, key);
  for (size_t i = 0; i < trace.event_count(); ++i) {
    if (trace.kind[i] == EventKind::wait_begin && trace.a[i] != TaskId::kNone) ++classes[of_task[trace.a[i]]].waiters;
  }

  std::vector<uint32_t> order(trace.tasks.size());
  std::iota(order.begin(), order.end(), 0u);
  std::stable_sort(order.begin(), order.end(), [&](uint32_t x, uint32_t y) { return of_task[x] < of_task[y]; });
  Samples samples;
  for (size_t i = 0; i < order.size();) {
    TaskClass& c = classes[of_task[order[i]]];
    int64_t off_cpu_ns = 0;
    samples.clear();
    for (const uint32_t number = of_task[order[i]]; i < order.size() && of_task[order[i]] == number; ++i) {
      const TaskRow& task = trace.tasks[order[i]];
      add_task(trace, task, own[order[i]], c, samples);
      if (task.end.valid()) off_cpu_ns += own[order[i]].off_cpu_ns;
    }
    finish_class(c, samples, off_cpu_ns, cpu_known);
  }
  std::stable_sort(classes.begin(), classes.end(), [](const TaskClass& x, const TaskClass& y) {
    return x.workers != y.workers ? y.workers : x.duration.total_ns > y.duration.total_ns;
  });
  return classes;
}

}  // namespace contrafact::analysis
