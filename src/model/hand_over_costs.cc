#include "model/hand_over_costs.h"

#include <algorithm>
#include <map>
#include <optional>
#include <utility>

#include "model/library_calls.h"

namespace contrafact::model {
namespace {

// A longer time is no wake-up: the thread lost its core, or listeners run.
constexpr int64_t kWakeMaxNs = 100'000;
// Making a task, and taking its result, with events recorded, takes some 100 ns to 2 us.
constexpr int64_t kBesideMaxNs = 3'000;
// Fewer wake-ups do not say what one costs.
constexpr size_t kWakesMin = 8;

// The tenth percentile; 0 without values. Leaves `values` in another order.
int64_t least_of(std::vector<int64_t>& values) {
  if (values.empty()) return 0;
  const auto nth = values.begin() + static_cast<ptrdiff_t>((values.size() - 1) / 10);
  std::ranges::nth_element(values, nth);
  return *nth;
}

int64_t mean_of(const std::vector<int64_t>& values) {
  int64_t sum = 0;
  for (const int64_t value : values) sum += value;
  return values.empty() ? 0 : sum / static_cast<int64_t>(values.size());
}

// After a task's spawn: how long until a worker was woken (0: nobody was), and from there to the thread's next event.
struct Gap {
  uint32_t task;
  int64_t to_wake_ns;
  int64_t after_ns;
  bool wakes;
};

class Costs {
 public:
  explicit Costs(const Trace& trace) : trace_(trace) {
    costs_.spawn_ns.assign(trace.tasks.size(), 0);
    costs_.spawn_most_ns.assign(trace.tasks.size(), 0);
    costs_.answer_ns.assign(trace.tasks.size(), 0);
    costs_.start_ns.assign(trace.tasks.size(), 0);
    costs_.handed.assign(trace.tasks.size(), false);
  }

  HandOverCosts run() {
    for (uint32_t task = 0; task < trace_.tasks.size(); ++task) note_answer(task);
    wake_mean_ns_ = mean_of(wakes_);
    wake_least_ns_ = least_of(wakes_);
    std::map<uint32_t, std::vector<Gap>> quiet;                        // by pool: where nobody is woken
    std::map<std::pair<uint32_t, uint32_t>, std::vector<Gap>> waking;  // by pool and place
    for (uint32_t task = 0; task < trace_.tasks.size(); ++task) {
      if (note_handed(task)) continue;
      costs_.start_ns[task] = start_ns(task);
      const std::optional<Gap> gap = gap_after_spawn(task);
      if (!gap) continue;
      costs_.spawn_most_ns[task] = std::min(gap->to_wake_ns + gap->after_ns, kWakeMaxNs);
      const TaskRow& row = trace_.tasks[task];
      const bool by_place = gap->wakes && wakes_.size() >= kWakesMin;
      (by_place ? waking[{row.pool.value, row.spawn_context.value}] : quiet[row.pool.value]).push_back(*gap);
    }
    note_takes();
    for (const auto& [pool, gaps] : quiet) set_least(gaps);
    for (const auto& [place, gaps] : waking) set_wakes(gaps);
    return std::move(costs_);
  }

 private:
  void note_answer(uint32_t task) {
    const TaskRow& row = trace_.tasks[task];
    if (!row.start.valid() || !row.complete.valid() || !row.end.valid()) return;
    const uint32_t complete = row.complete.value, end = row.end.value;
    if (complete < row.start.value || complete >= end || end - complete < 2) return;
    for (uint32_t i = complete + 1; i < end; ++i) {
      if (trace_.kind[i] != EventKind::wake) return;
    }
    const int64_t ns = trace_.time_ns[end] - trace_.time_ns[complete + 1];
    if (ns <= kWakeMaxNs) wakes_.push_back(ns);
    costs_.answer_ns[task] = std::min(ns, kWakeMaxNs);
  }

  // Whether the event is part of handing a task out: it concerns the queue, a worker or a thread that waits for the
  // queue's lock.
  bool is_handing(uint32_t event) const {
    switch (trace_.kind[event]) {
      case EventKind::wake:
      case EventKind::pool_size:
      case EventKind::task_delay:
      case EventKind::task_drop:
      case EventKind::block_begin:
      case EventKind::block_end:
        return true;
      case EventKind::task_spawn:
        return trace_.a[event] != UINT32_MAX && is_worker_run(trace_, trace_.tasks[trace_.a[event]]);
      default:
        return false;
    }
  }

  // Where the trace says when handing out was over, all time until then is the library's. The queue takes it until the
  // next event; from there on, starting a worker does.
  bool note_handed(uint32_t task) {
    const TaskRow& row = trace_.tasks[task];
    if (!row.spawn.valid() || row.kind != TaskKind::pooled) return false;
    const uint32_t spawn = row.spawn.value, end = trace_.thread_events(trace_.thread_of(row.spawn)).end;
    uint32_t handed = spawn + 1;
    while (handed < end && is_handing(handed)) ++handed;
    if (handed >= end || trace_.kind[handed] != EventKind::task_handed) return false;
    uint32_t next = spawn + 1;
    while (trace_.kind[next] == EventKind::wake) ++next;
    costs_.handed[task] = true;
    costs_.spawn_ns[task] = trace_.time_ns[next] - trace_.time_ns[spawn];
    costs_.spawn_most_ns[task] = costs_.spawn_ns[task];
    if (spawn > trace_.thread_events(trace_.thread_of(row.spawn)).begin)
      costs_.spawn_most_ns[task] += beside_ns(spawn - 1);
    if (trace_.kind[next] == EventKind::task_spawn)
      costs_.start_ns[task] = trace_.time_ns[handed] - trace_.time_ns[next];
    return true;
  }

  // The time from this event to the next. In it, the library makes a task before it is handed out, or gives its result
  // back after the wait for it. The recorder works at both.
  int64_t beside_ns(uint32_t event) const {
    return std::min(trace_.time_ns[event + 1] - trace_.time_ns[event], kBesideMaxNs);
  }

  void note_takes() {
    for (const EventRange& range : trace_.thread_ranges) {
      for (uint32_t i = range.begin; i + 1 < range.end; ++i) {
        const uint32_t task = trace_.a[i];
        if (trace_.kind[i] != EventKind::wait_end || task == UINT32_MAX || !costs_.handed[task]) continue;
        if (trace_.thread_of(trace_.tasks[task].spawn) == trace_.thread_of(EventIndex(range.begin)))
          costs_.spawn_most_ns[task] += beside_ns(i);
      }
    }
  }

  // The time from the worker's spawn until the pool has it: Thread.start returns when the system has started the
  // thread.
  int64_t start_ns(uint32_t task) const {
    const TaskRow& row = trace_.tasks[task];
    if (!row.spawn.valid() || row.kind != TaskKind::pooled) return 0;
    const uint32_t worker = row.spawn.value + 1, started = worker + 1;
    if (started >= trace_.thread_events(trace_.thread_of(row.spawn)).end) return 0;
    if (trace_.kind[worker] != EventKind::task_spawn || trace_.a[worker] == UINT32_MAX) return 0;
    if (trace_.kind[started] != EventKind::pool_size || !is_worker_run(trace_, trace_.tasks[trace_.a[worker]]))
      return 0;
    constexpr int64_t kStartMaxNs = 1'000'000;
    return std::min(trace_.time_ns[started] - trace_.time_ns[worker], kStartMaxNs);
  }

  std::optional<Gap> gap_after_spawn(uint32_t task) const {
    const TaskRow& row = trace_.tasks[task];
    if (!row.spawn.valid()) return std::nullopt;
    const uint32_t spawn = row.spawn.value, end = trace_.thread_events(trace_.thread_of(row.spawn)).end;
    uint32_t next = spawn + 1;
    while (next < end && trace_.kind[next] == EventKind::wake) ++next;
    if (next >= end) return std::nullopt;
    const bool wakes = next > spawn + 1;
    const int64_t from_ns = trace_.time_ns[wakes ? spawn + 1 : spawn];
    return Gap{task, from_ns - trace_.time_ns[spawn], trace_.time_ns[next] - from_ns, wakes};
  }

  // The shortest gaps are taken for the hand-out alone; a task's own gap bounds it.
  void set_least(const std::vector<Gap>& gaps) {
    std::vector<int64_t> all_ns;
    for (const Gap& gap : gaps) all_ns.push_back(gap.to_wake_ns + gap.after_ns);
    const int64_t least_ns = least_of(all_ns);
    for (const Gap& gap : gaps) costs_.spawn_ns[gap.task] = std::min(gap.to_wake_ns + gap.after_ns, least_ns);
  }

  void set_wakes(const std::vector<Gap>& gaps) {
    std::vector<int64_t> after_ns;
    for (const Gap& gap : gaps) after_ns.push_back(gap.after_ns);
    const int64_t own_ns = std::max<int64_t>(0, least_of(after_ns) - wake_least_ns_);
    int64_t sum_ns = 0;
    const auto of_waking_ns = [&](const Gap& gap) { return std::clamp<int64_t>(gap.after_ns - own_ns, 0, kWakeMaxNs); };
    for (const Gap& gap : gaps) sum_ns += of_waking_ns(gap);
    const auto usual_ns = static_cast<double>(wake_mean_ns_) * static_cast<double>(gaps.size());
    const double share = sum_ns == 0 ? 1 : std::min(1.0, usual_ns / static_cast<double>(sum_ns));
    for (const Gap& gap : gaps) {
      const auto waking_ns = static_cast<int64_t>(share * static_cast<double>(of_waking_ns(gap)));
      costs_.spawn_ns[gap.task] = std::min(gap.to_wake_ns, kWakeMaxNs) + waking_ns;
    }
  }

  const Trace& trace_;
  HandOverCosts costs_;
  std::vector<int64_t> wakes_;  // what wake-ups cost at the workers' side
  int64_t wake_mean_ns_ = 0, wake_least_ns_ = 0;
};

}  // namespace

HandOverCosts hand_over_costs(const Trace& trace) {
  return Costs(trace).run();
}

}  // namespace contrafact::model
