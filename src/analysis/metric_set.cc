#include "analysis/metric_set.h"

#include <algorithm>

#include "analysis/headroom.h"

namespace contrafact::analysis {
namespace {

using model::EventKind;
using model::Trace;

constexpr double kNsPerSecond = 1e9;

// Everything that the metrics are computed from.
struct Facts {
  const Trace& trace;
  const ThreadUsage& usage;
  std::vector<PoolHeadroom> pools;
  uint64_t tasks_run = 0;
  uint64_t tasks_spawned = 0;
  uint64_t waits = 0;

  double seconds() const { return static_cast<double>(usage.window.duration_ns()) / kNsPerSecond; }
};

Facts facts_of(const Trace& trace, const ThreadUsage& usage) {
  Facts facts{trace, usage, headroom(trace, usage)};
  for (size_t i = 0; i < trace.event_count(); ++i) {
    if (trace.kind[i] == EventKind::task_start && trace.tasks[trace.a[i]].kind != model::TaskKind::stage)
      ++facts.tasks_run;
    if (trace.kind[i] == EventKind::task_spawn) ++facts.tasks_spawned;
    if (trace.kind[i] == EventKind::wait_begin) ++facts.waits;
  }
  return facts;
}

double waiting_share(const Facts& f) {
  const double occupied = f.usage.aggregates.occupied.mean;
  return occupied > 0 ? f.usage.aggregates.waiting.mean / occupied : 0;
}

// Over the pools of known size; 0 where there is none.
template <typename Value>
double over_pools(const Facts& f, bool smallest, Value value) {
  double best = 0;
  bool any = false;
  for (const PoolHeadroom& pool : f.pools) {
    if (pool.size == 0 || pool.peak_occupied == 0) continue;
    const double v = value(pool);
    best = !any ? v : smallest ? std::min(best, v) : std::max(best, v);
    any = true;
  }
  return best;
}

struct Entry {
  MetricSpec spec;
  double (*compute)(const Facts&);
};

#define CONTRAFACT_SERIES(series, of)                                                        \
  {{"mean_" #series, "threads", "Mean number of threads " of ", over the window's time."},   \
   [](const Facts& f) { return f.usage.aggregates.series.mean; }},                           \
      {{"peak_" #series, "threads", "Most threads " of " at once."},                         \
       [](const Facts& f) { return double(f.usage.aggregates.series.peak); }},               \
      {{"p50_" #series, "threads", "Threads " of " that half of the time is not exceeded."}, \
       [](const Facts& f) { return double(f.usage.aggregates.series.p50); }},                \
      {{"p90_" #series, "threads", "Threads " of " that 90 % of the time is not exceeded."}, \
       [](const Facts& f) { return double(f.usage.aggregates.series.p90); }},                \
  {                                                                                          \
    {"p99_" #series, "threads", "Threads " of " that 99 % of the time is not exceeded."},    \
        [](const Facts& f) { return double(f.usage.aggregates.series.p99); }                 \
  }

const std::vector<Entry>& entries() {
  static const std::vector<Entry> list{
      {{"duration", "s", "Wall-clock time of the window."}, [](const Facts& f) { return f.seconds(); }},
      CONTRAFACT_SERIES(occupied, "occupied (active or waiting)"),
      CONTRAFACT_SERIES(active, "active"),
      CONTRAFACT_SERIES(waiting, "waiting for another task's result"),
      CONTRAFACT_SERIES(unoccupied, "of pools without a task"),
      CONTRAFACT_SERIES(blocked, "active but blocked"),
      {{"thread_time_occupied", "s", "Sum over all threads of the time that they were occupied."},
       [](const Facts& f) { return f.usage.aggregates.occupied.mean * f.seconds(); }},
      {{"thread_time_waiting", "s", "Sum over all threads of the time that they waited for results."},
       [](const Facts& f) { return f.usage.aggregates.waiting.mean * f.seconds(); }},
      {{"waiting_share", "", "Part of the occupied thread time that was spent waiting."}, waiting_share},
      {{"copies_by_peak", "copies", "Concurrent copies of this run's peak that its tightest pool holds."},
       [](const Facts& f) {
         return over_pools(f, true, [](const PoolHeadroom& p) { return double(p.copies_by_peak.value_or(0)); });
       }},
      {{"copies_by_mean", "copies", "Concurrent copies of this run's mean thread use that its tightest pool holds."},
       [](const Facts& f) {
         return over_pools(f, true, [](const PoolHeadroom& p) { return p.copies_by_mean.value_or(0); });
       }},
      {{"utilisation", "", "Occupied share of the busiest pool's workers."},
       [](const Facts& f) { return over_pools(f, false, [](const PoolHeadroom& p) { return p.utilisation; }); }},
      {{"queue_peak", "tasks", "Most tasks queued in one pool at once."},
       [](const Facts& f) {
         uint32_t peak = 0;
         for (const PoolHeadroom& pool : f.pools) peak = std::max(peak, pool.queue_peak);
         return double(peak);
       }},
      {{"tasks_spawned", "tasks", "Tasks handed to a pool or a thread."},
       [](const Facts& f) { return double(f.tasks_spawned); }},
      {{"tasks_run", "tasks", "Task bodies that began, without stages."},
       [](const Facts& f) { return double(f.tasks_run); }},
      {{"waits", "waits", "Times that a thread asked for a task's result."},
       [](const Facts& f) { return double(f.waits); }},
  };
  return list;
}

#undef CONTRAFACT_SERIES

}  // namespace

const std::vector<MetricSpec>& metric_specs() {
  static const std::vector<MetricSpec> specs = [] {
    std::vector<MetricSpec> list;
    for (const Entry& entry : entries()) list.push_back(entry.spec);
    return list;
  }();
  return specs;
}

std::vector<Metric> run_metrics(const Trace& trace, const ThreadUsage& usage) {
  const Facts facts = facts_of(trace, usage);
  std::vector<Metric> metrics;
  for (size_t i = 0; i < entries().size(); ++i) metrics.push_back({&metric_specs()[i], entries()[i].compute(facts)});
  return metrics;
}

}  // namespace contrafact::analysis
