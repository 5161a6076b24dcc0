#include "analysis/headroom.h"

#include <algorithm>

#include "model/pool_capacity.h"

namespace contrafact::analysis {
namespace {

using model::EventIndex;
using model::Trace;

struct QueueChange {
  int64_t time_ns;
  int32_t by;
};

// Most tasks that were in a pool's queue at once. A task leaves the queue when it starts or is dropped; one that did
// neither stays. Delayed tasks join when they are due.
std::vector<uint32_t> queue_peaks(const Trace& trace) {
  std::vector<std::vector<QueueChange>> changes(trace.pools.size());
  for (const model::TaskRow& task : trace.tasks) {
    if (!task.spawn.valid() || !task.pool.valid()) continue;
    const int64_t due_ns = trace.time_ns[task.spawn.index()] + int64_t{task.delay_us} * 1000;
    if (task.dropped && !task.start.valid()) continue;
    changes[task.pool.index()].push_back({due_ns, 1});
    if (task.start.valid()) {
      changes[task.pool.index()].push_back({std::max(due_ns, trace.time_ns[task.start.index()]), -1});
    }
  }
  std::vector<uint32_t> peaks(trace.pools.size());
  for (size_t pool = 0; pool < peaks.size(); ++pool) {
    // At equal times tasks leave first: a hand-over is no queue.
    std::sort(changes[pool].begin(), changes[pool].end(), [](const QueueChange& x, const QueueChange& y) {
      return x.time_ns != y.time_ns ? x.time_ns < y.time_ns : x.by < y.by;
    });
    int64_t length = 0;
    for (const QueueChange& change : changes[pool]) {
      length += change.by;
      peaks[pool] = static_cast<uint32_t>(std::max<int64_t>(peaks[pool], length));
    }
  }
  return peaks;
}

void add_usage(PoolHeadroom& row, const PoolUsage& use, const format::PoolRow& pool) {
  const uint32_t capacity = model::pool_capacity(pool, use.workers);
  row.size = capacity == model::kUnboundedPool ? 0 : capacity;
  row.workers_seen = use.workers;
  row.peak_occupied = use.aggregates.occupied.peak;
  row.mean_occupied = use.aggregates.occupied.mean;
  if (row.size == 0) return;
  row.utilisation = row.mean_occupied / row.size;
  row.active_utilisation = use.aggregates.active.mean / row.size;
  for (size_t n = row.size; n < use.occupied_ns.size(); ++n) row.saturated_ns += use.occupied_ns[n];
  if (row.peak_occupied > 0) row.copies_by_peak = row.size / row.peak_occupied;
  if (row.mean_occupied > 0) row.copies_by_mean = row.size / row.mean_occupied;
}

}  // namespace

std::vector<PoolHeadroom> headroom(const Trace& trace, const ThreadUsage& usage) {
  const std::vector<uint32_t> peaks = queue_peaks(trace);
  std::vector<PoolHeadroom> rows = headroom_of_workers(trace, usage);
  for (PoolHeadroom& row : rows) row.queue_peak = peaks[row.pool.index()];
  return rows;
}

std::vector<PoolHeadroom> headroom_of_workers(const Trace& trace, const ThreadUsage& usage) {
  std::vector<bool> given_tasks(trace.pools.size());
  for (const model::TaskRow& task : trace.tasks) {
    if (task.pool.valid()) given_tasks[task.pool.index()] = true;
  }
  std::vector<PoolHeadroom> rows;
  for (uint32_t i = 0; i < trace.pools.size(); ++i) {
    const auto use =
        std::find_if(usage.pools.begin(), usage.pools.end(), [&](const PoolUsage& p) { return p.pool.value == i; });
    if (use == usage.pools.end() && !given_tasks[i]) continue;
    PoolHeadroom row;
    row.pool = model::PoolId(i);
    static const PoolUsage unused{};
    add_usage(row, use == usage.pools.end() ? unused : *use, trace.pools[i]);
    rows.push_back(row);
  }
  return rows;
}

std::optional<OverfullPool> overfull_pool(const model::Facts& recorded, const Trace& estimated) {
  const std::vector<PoolHeadroom> rooms =
      headroom_of_workers(recorded.trace(), thread_usage(recorded, {.steps = false}));
  for (const PoolHeadroom& changed : headroom_of_workers(estimated, thread_usage(estimated, {.steps = false}))) {
    const auto room = std::ranges::find(rooms, changed.pool, &PoolHeadroom::pool);
    if (room == rooms.end() || room->size == 0) continue;
    if (changed.peak_occupied <= std::max(room->size, room->peak_occupied)) continue;
    return OverfullPool{room->pool, changed.peak_occupied, room->size};
  }
  return std::nullopt;
}

}  // namespace contrafact::analysis
