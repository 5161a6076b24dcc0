#include "model/finish.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "base/counted.h"
#include "model/event_pass.h"
#include "model/library_calls.h"
#include "model/lock_lives.h"
#include "model/pool_groups.h"
#include "model/processes.h"
#include "model/time_window.h"
#include "model/vm_stops.h"

namespace contrafact::model {

namespace {

// A thread that left its core and was not seen to come back was back for its next event at the latest.
void close_gaps(Trace& parts) {
  for (size_t t = 0; t < parts.cpu.size(); ++t) {
    const EventRange range = parts.thread_ranges[t];
    const int64_t* begin = parts.time_ns.data() + range.begin;
    const int64_t* end = parts.time_ns.data() + range.end;
    for (CpuGap& gap : parts.cpu[t]) {
      if (gap.in_ns != gap.out_ns) continue;
      const int64_t* next = std::upper_bound(begin, end, gap.out_ns);
      if (next != end) gap.in_ns = *next;
    }
  }
}

// The block that is open at such a time. A recorder that has to begin a new buffer then gives the row a later time than
// its block_begin.
EventIndex block_at(const Trace& parts, const BlockedOn& row) {
  if (!row.thread.valid() || !row.lock.valid()) return {};
  const EventRange range = parts.thread_ranges[row.thread.index()];
  const int64_t* const times = parts.time_ns.data();
  const auto after =
      static_cast<uint32_t>(std::upper_bound(times + range.begin, times + range.end, row.time_ns) - times);
  for (uint32_t i = after; i-- > range.begin;) {
    if (parts.kind[i] == EventKind::block_begin) return EventIndex(i);
    if (parts.time_ns[i] < row.time_ns) break;
  }
  return {};
}

// Finds the block of each row of `blocked_on`. Rows without one are left out, and of several only the first stays.
void find_blocks(Trace& parts) {
  std::vector<BlockedOn>& rows = parts.blocked_on;
  for (BlockedOn& row : rows) {
    row.block = block_at(parts, row);
    if (row.block.valid()) row.time_ns = parts.time_ns[row.block.index()];
  }
  std::erase_if(rows, [](const BlockedOn& row) { return !row.block.valid(); });
  std::ranges::stable_sort(rows, {}, &BlockedOn::block);
  const auto repeated = std::ranges::unique(rows, {}, &BlockedOn::block);
  rows.erase(repeated.begin(), repeated.end());
}

// What the recorder says of pools of objects by facts: by which methods of the program's own they are asked
// (library_calls.cc, which looks for these facts first of all), and which queues turned out to be none.
void read_resource_facts(Trace& parts) {
  constexpr std::string_view kNone = "resource.none.";
  std::ranges::stable_partition(parts.facts, [](const Fact& fact) { return fact.key.starts_with(kResourceFact); });
  for (const Fact& fact : parts.facts) {
    if (!fact.key.starts_with(kNone)) continue;
    size_t pool = 0;
    const auto [end, error] = std::from_chars(fact.key.data() + kNone.size(), fact.key.data() + fact.key.size(), pool);
    if (error == std::errc() && pool < parts.pools.size() && parts.pools[pool].kind == format::PoolKind::permits)
      parts.pools[pool].kind = format::PoolKind::other;
  }
}

}  // namespace

base::Result<Trace> finish(Trace parts, const FileParts* file) {
  parts.cpu.resize(parts.threads.size());
  parts.thread_ranges.resize(parts.threads.size(),
                             {static_cast<uint32_t>(parts.kind.size()), static_cast<uint32_t>(parts.kind.size())});
  const TimeWindow window = window_of(parts);
  if (const uint64_t outside = bound_times(parts, window); outside > 0) {
    parts.loss.notes.push_back(base::counted(outside, "event", "events") + " had times weeks away from the first one");
  }
  const bool moved = pass_over_events(parts, file, window);
  close_gaps(parts);
  if (parts.origin == Origin::measured) tell_lives_apart(parts);
  std::erase_if(parts.dependencies, [&](const Dependency& dependency) {
    return dependency.task.index() >= parts.tasks.size() || dependency.source.index() >= parts.tasks.size();
  });
  std::stable_sort(parts.dependencies.begin(), parts.dependencies.end(),
                   [](const Dependency& x, const Dependency& y) { return x.task < y.task; });
  std::sort(parts.pauses.begin(), parts.pauses.end(),
            [](const Pause& x, const Pause& y) { return x.begin_ns < y.begin_ns; });
  std::ranges::sort(parts.vm_stints, {}, &VmStint::begin_ns);
  std::ranges::sort(parts.idle_times, {}, &IdleTime::until_ns);
  find_blocks(parts);
  read_processes(parts);
  cut_stops(parts);
  read_resource_facts(parts);
  if (parts.origin == Origin::measured) join_pools_of_one_thread(parts);
  if (moved) {
    if (base::Status status = verify(parts); !status) return status.error();
  }
  return parts;
}

}  // namespace contrafact::model
