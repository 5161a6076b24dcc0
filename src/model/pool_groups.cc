#include "model/pool_groups.h"

#include <algorithm>
#include <map>
#include <string>
#include <tuple>
#include <utility>

namespace contrafact::model {
namespace {

using format::PoolKind;

constexpr int64_t kSharedWell = 10;  // at most one part in so many of the waiting is in vain

bool may_be_member(const format::PoolRow& pool) {
  return pool.core_size == 1 && (pool.kind == PoolKind::thread_pool || pool.kind == PoolKind::scheduled_thread_pool);
}

// How many executors of one thread its owner makes at most, of which it is one; 0: it does not say.
uint32_t most_alike(const format::PoolRow& pool) {
  const bool says = pool.kind == PoolKind::scheduled_thread_pool && pool.core_size == 1 && pool.max_size > 1;
  return says && pool.max_size != UINT32_MAX ? pool.max_size : 0;
}

bool names_pool(EventKind kind) {
  return kind == EventKind::worker_idle || kind == EventKind::worker_busy || kind == EventKind::pool_size ||
         kind == EventKind::pool_close || kind == EventKind::pool_closed;
}

// "asking-" of "asking-12"; empty where no number is at the end.
std::string_view stem_of(std::string_view name) {
  const size_t end = name.find_last_not_of("0123456789");
  return end == std::string_view::npos || end + 1 == name.size() ? std::string_view() : name.substr(0, end + 1);
}

// By pool: the stem of all its workers' names; empty where it has none, or they differ.
std::vector<std::string_view> stems_of(const Trace& trace) {
  std::vector<std::string_view> stems(trace.pools.size());
  std::vector<bool> seen(trace.pools.size());
  for (uint32_t thread = 0; thread < trace.threads.size(); ++thread) {
    const std::string_view stem = stem_of(trace.string(trace.threads[thread].name));
    const EventRange range = trace.thread_ranges[thread];
    uint32_t last = UINT32_MAX;
    for (uint32_t i = range.begin; i < range.end; ++i) {
      if (trace.kind[i] != EventKind::worker_idle && trace.kind[i] != EventKind::worker_busy) continue;
      const uint32_t pool = std::exchange(last, trace.a[i]);
      if (pool == trace.a[i] || trace.a[i] >= stems.size()) continue;
      std::string_view& of_pool = stems[trace.a[i]];
      of_pool = !seen[trace.a[i]] || of_pool == stem ? stem : std::string_view();
      seen[trace.a[i]] = true;
    }
  }
  return stems;
}

// What a member has to do, and when that changes.
struct PendingChange {
  int64_t time_ns;
  uint32_t member;
  int waits, runs;
};

class Sharing {
 public:
  explicit Sharing(size_t members) : members_(members) {}

  bool is_good(std::vector<PendingChange> changes) {
    std::ranges::stable_sort(changes, {}, &PendingChange::time_ns);
    int64_t waited_ns = 0, in_vain_ns = 0;
    for (size_t i = 0; i < changes.size(); ++i) {
      apply(changes[i]);
      const int64_t ns = i + 1 < changes.size() ? changes[i + 1].time_ns - changes[i].time_ns : 0;
      if (queued_ > 0) waited_ns += ns;
      if (queued_ > 0 && idle_ > 0) in_vain_ns += ns;
    }
    return in_vain_ns <= waited_ns / kSharedWell;
  }

 private:
  struct Member {
    int waits = 0, runs = 0;
    bool seen = false;
    bool is_idle() const { return seen && waits == 0 && runs == 0; }
    bool is_queued() const { return waits > 0 && runs > 0; }
  };
  void apply(const PendingChange& change) {
    Member& member = members_[change.member];
    count(member, -1);
    member.waits += change.waits;
    member.runs += change.runs;
    member.seen = true;
    count(member, 1);
  }
  void count(const Member& member, int by) {
    idle_ += member.is_idle() ? by : 0;
    queued_ += member.is_queued() ? by : 0;
  }

  std::vector<Member> members_;
  int idle_ = 0, queued_ = 0;
};

struct Group {
  std::vector<uint32_t> pools;
  std::string_view stem;
};

std::vector<PendingChange> pending_changes_of(const Trace& trace, const std::vector<uint32_t>& member_of) {
  std::vector<PendingChange> changes;
  for (const TaskRow& task : trace.tasks) {
    if (!task.pool.valid() || member_of[task.pool.index()] == UINT32_MAX) continue;
    if (!task.spawn.valid() || !task.start.valid() || !task.end.valid()) continue;
    const uint32_t member = member_of[task.pool.index()];
    const int64_t start_ns = trace.time_ns[task.start.index()];
    const int64_t due_ns = std::min(start_ns, trace.time_ns[task.spawn.index()] + int64_t{task.delay_us} * 1000);
    changes.push_back({due_ns, member, 1, 0});
    changes.push_back({start_ns, member, -1, 1});
    changes.push_back({trace.time_ns[task.end.index()], member, 0, -1});
  }
  return changes;
}

bool shares_work(const Trace& trace, const Group& group) {
  std::vector<uint32_t> member_of(trace.pools.size(), UINT32_MAX);
  for (uint32_t i = 0; i < group.pools.size(); ++i) member_of[group.pools[i]] = i;
  return Sharing(group.pools.size()).is_good(pending_changes_of(trace, member_of));
}

std::vector<Group> groups_of(const Trace& trace) {
  if (std::ranges::count_if(trace.pools, may_be_member) < 2) return {};
  const std::vector<std::string_view> stems = stems_of(trace);
  std::map<std::tuple<std::string_view, PoolKind, std::string_view>, Group> by_name;
  for (uint32_t i = 0; i < trace.pools.size(); ++i) {
    if (!may_be_member(trace.pools[i]) || stems[i].empty()) continue;
    Group& group = by_name[{trace.string(trace.pools[i].name), trace.pools[i].kind, stems[i]}];
    group.stem = stems[i];
    group.pools.push_back(i);
  }
  std::vector<Group> groups;
  for (auto& [name, group] : by_name) {
    if (group.pools.size() >= 2 && shares_work(trace, group)) groups.push_back(std::move(group));
  }
  return groups;
}

}  // namespace

void join_pools_of_one_thread(Trace& parts) {
  const std::vector<Group> groups = groups_of(parts);
  const auto most_of = [&](const Group& group) {
    auto most = static_cast<uint32_t>(group.pools.size());
    for (const uint32_t pool : group.pools) most = std::max(most, most_alike(parts.pools[pool]));
    return most;
  };
  std::vector<uint32_t> sizes;
  for (const Group& group : groups) sizes.push_back(most_of(group));
  for (format::PoolRow& pool : parts.pools) {
    if (most_alike(pool) > 1) pool.core_size = pool.max_size;
  }
  if (groups.empty()) return;
  std::vector<uint32_t> first(parts.pools.size());
  for (uint32_t i = 0; i < first.size(); ++i) first[i] = i;
  std::vector<std::string> names;  // the stems lie in `strings`, which grows
  for (const Group& group : groups) {
    for (const uint32_t pool : group.pools) first[pool] = group.pools[0];
    names.push_back(std::string(parts.string(parts.pools[group.pools[0]].name)).append(" ").append(group.stem));
  }
  for (size_t i = 0; i < groups.size(); ++i) {
    format::PoolRow& row = parts.pools[groups[i].pools[0]];
    row.name = StringId(static_cast<uint32_t>(parts.strings.size()));
    row.core_size = row.max_size = sizes[i];
    parts.strings.push_back(std::move(names[i]));
  }
  for (TaskRow& task : parts.tasks) {
    if (task.pool.valid()) task.pool = PoolId(first[task.pool.index()]);
  }
  for (size_t i = 0; i < parts.event_count(); ++i) {
    if (names_pool(parts.kind[i]) && parts.a[i] < first.size()) parts.a[i] = first[parts.a[i]];
  }
}

}  // namespace contrafact::model
