#include "model/lock_lives.h"

#include <algorithm>
#include <unordered_map>
#include <vector>

namespace contrafact::model {
namespace {

constexpr bool is_use(EventKind kind) {
  return kind >= EventKind::lock_acquire && kind <= EventKind::sync_broadcast;
}

// The lives of a lock that was initialised or destroyed.
struct Lives {
  std::vector<int64_t> begins_ns;  // of all lives but the first, ascending
  std::vector<bool> used;
  std::vector<uint32_t> rows;  // in the lock table

  size_t at(int64_t time_ns) const {
    return static_cast<size_t>(std::upper_bound(begins_ns.begin(), begins_ns.end(), time_ns) - begins_ns.begin());
  }
};

using LivesOfLocks = std::unordered_map<uint32_t, Lives>;

LivesOfLocks find_lives(const Trace& parts) {
  LivesOfLocks all;
  for (const EventRange& range : parts.thread_ranges) {
    for (uint32_t i = range.begin; i < range.end; ++i) {
      const EventKind kind = parts.kind[i];
      if (kind != EventKind::lock_init && kind != EventKind::lock_destroy) continue;
      if (parts.a[i] == UINT32_MAX) continue;
      all[parts.a[i]].begins_ns.push_back(parts.time_ns[i] + (kind == EventKind::lock_destroy));
    }
  }
  for (auto& [lock, lives] : all) {
    std::sort(lives.begins_ns.begin(), lives.begins_ns.end());
    lives.used.resize(lives.begins_ns.size() + 1);
  }
  return all;
}

// Which life of one lock a thread waits for, and which it holds.
struct Doing {
  size_t waits = SIZE_MAX;  // the life
  size_t holds = SIZE_MAX;
  uint32_t depth = 0;

  size_t life_of(EventKind kind, uint32_t b, size_t by_time) {
    if (closes(kind)) {
      const size_t life = waits == SIZE_MAX ? by_time : waits;
      waits = SIZE_MAX;
      if (kind != EventKind::sync_woken && static_cast<Outcome>(b) == Outcome::normal) take(life);
      return life;
    }
    if (opens(kind)) waits = by_time;
    if (kind == EventKind::lock_acquire || kind == EventKind::lock_acquire_shared) take(by_time);
    if (kind != EventKind::lock_release || depth == 0) return by_time;
    --depth;
    return holds;
  }

 private:
  void take(size_t life) {
    depth = life == holds ? depth + 1 : 1;
    holds = life;
  }
};

// Calls visit(event, lives, life) for each event of a lock that has several.
template <typename Visit>
void for_each_event(const Trace& parts, LivesOfLocks& all, Visit visit) {
  for (const EventRange& range : parts.thread_ranges) {
    std::unordered_map<uint32_t, Doing> doing;
    for (uint32_t i = range.begin; i < range.end; ++i) {
      const EventKind kind = parts.kind[i];
      if (!is_use(kind) && kind != EventKind::lock_init && kind != EventKind::lock_destroy) continue;
      const auto found = all.find(parts.a[i]);
      if (found == all.end()) continue;
      const size_t by_time = found->second.at(parts.time_ns[i]);
      visit(i, found->second, is_use(kind) ? doing[found->first].life_of(kind, parts.b[i], by_time) : by_time);
    }
  }
}

}  // namespace

void tell_lives_apart(Trace& parts) {
  if (parts.locks.empty()) return;
  LivesOfLocks all = find_lives(parts);
  if (all.empty()) return;
  for_each_event(parts, all, [&](uint32_t event, Lives& lives, size_t life) {
    if (is_use(parts.kind[event])) lives.used[life] = true;
  });
  std::vector<uint32_t> numbers;
  for (const auto& [lock, lives] : all) numbers.push_back(lock);
  std::sort(numbers.begin(), numbers.end());  // what rows are added does not depend on a hash
  for (const uint32_t lock : numbers) {
    Lives& lives = all[lock];
    lives.rows.assign(lives.used.size(), lock);
    bool is_first = true;
    for (size_t life = 0; life < lives.used.size(); ++life) {
      if (!lives.used[life]) continue;
      if (!is_first) {
        lives.rows[life] = static_cast<uint32_t>(parts.locks.size());
        parts.locks.push_back(format::LockRow(parts.locks[lock]));
      }
      is_first = false;
    }
  }
  for_each_event(parts, all, [&](uint32_t event, Lives& lives, size_t life) { parts.a[event] = lives.rows[life]; });
}

}  // namespace contrafact::model
