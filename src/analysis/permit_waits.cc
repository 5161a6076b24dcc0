#include "analysis/permit_waits.h"

#include <algorithm>
#include <map>
#include <optional>

#include "analysis/covered_time.h"
#include "model/library_calls.h"

namespace contrafact::analysis {
namespace {

using model::EventKind;
using model::Trace;

struct PermitChange {
  int64_t time_ns;
  int64_t by;  // permits that are free
};

struct PermitWait {
  int64_t begin_ns, end_ns;
  model::ContextId context;
};

struct PermitUses {
  std::vector<PermitChange> changes;
  std::vector<PermitWait> waits;
  bool is_bounding = true;
};

// Of one thread: what it takes and gives, and its blocks that end with taking.
class PermitWalk {
 public:
  PermitWalk(const Trace& trace, std::map<uint32_t, PermitUses>& uses) : trace_(trace), uses_(uses) {}

  void walk(model::ThreadId thread, bool is_bystander) {
    block_begin_ = kNoBlock;
    waits_.clear();
    const model::EventRange range = trace_.thread_events(thread);
    for (uint32_t i = range.begin; i < range.end; ++i) {
      const auto used = is_dealing(i) ? uses_.find(trace_.a[i]) : uses_.end();
      if (used == uses_.end()) {
        note_block(i);
        continue;
      }
      PermitUses& pool = used->second;
      const auto count = int64_t{trace_.b[i]};
      const bool takes = trace_.kind[i] == EventKind::permit_take;
      pool.is_bounding &= !is_bystander;
      pool.changes.push_back({trace_.time_ns[i], takes ? -count : count});
      if (takes) pool.waits.insert(pool.waits.end(), waits_.begin(), waits_.end());
      waits_.clear();
    }
  }

 private:
  static constexpr uint32_t kNoBlock = UINT32_MAX;

  bool is_dealing(uint32_t i) const {
    return trace_.kind[i] == EventKind::permit_take || trace_.kind[i] == EventKind::permit_give;
  }

  // Several blocks may stand before the taking: a thread that was woken may find that another one was faster.
  void note_block(uint32_t i) {
    switch (trace_.kind[i]) {
      case EventKind::block_begin:
        block_begin_ = i;
        return;
      case EventKind::block_end:
        if (block_begin_ != kNoBlock && is_for_permits(block_begin_))
          waits_.push_back({trace_.time_ns[block_begin_], trace_.time_ns[i], model::ContextId(trace_.b[block_begin_])});
        block_begin_ = kNoBlock;
        return;
      case EventKind::wake:
      case EventKind::receive:  // the look whether a connection is still good
      case EventKind::send:
        return;
      default:
        waits_.clear();
    }
  }

  bool is_for_permits(uint32_t begin) const {
    const model::ContextId place(trace_.b[begin]);
    const bool is_park = static_cast<model::BlockReason>(trace_.a[begin]) == model::BlockReason::park;
    return is_park ? model::is_permit_call(trace_, place) : model::is_resource_call(trace_, place);
  }

  const Trace& trace_;
  std::map<uint32_t, PermitUses>& uses_;
  uint32_t block_begin_ = kNoBlock;
  std::vector<PermitWait> waits_;  // that have ended since anything else happened
};

// The most permits that were out at once; none where more were given than taken: then they are signals. At equal times
// giving comes first.
std::optional<int64_t> most_taken(std::vector<PermitChange>& changes) {
  std::ranges::sort(changes, [](const PermitChange& x, const PermitChange& y) {
    return x.time_ns != y.time_ns ? x.time_ns < y.time_ns : x.by > y.by;
  });
  int64_t free = 0, least = 0;
  for (const PermitChange& change : changes) {
    free += change.by;
    if (free > 0) return std::nullopt;
    least = std::min(least, free);
  }
  return -least;
}

}  // namespace

std::vector<PermitWaits> permit_waits(const model::Facts& facts) {
  const Trace& trace = facts.trace();
  std::map<uint32_t, PermitUses> uses;
  for (uint32_t i = 0; i < trace.pools.size(); ++i) {
    if (trace.pools[i].kind == format::PoolKind::permits) uses.try_emplace(i);
  }
  std::vector<PermitWaits> rows;
  if (uses.empty()) return rows;
  PermitWalk walk(trace, uses);
  for (uint32_t i = 0; i < trace.threads.size(); ++i)
    walk.walk(model::ThreadId(i), facts.uses()[i].role == model::ThreadRole::bystander);
  for (auto& [pool, use] : uses) {
    const std::optional<int64_t> taken = most_taken(use.changes);
    if (!use.is_bounding || !taken) continue;
    const auto permits = static_cast<uint32_t>(std::max<int64_t>(trace.pools[pool].core_size, *taken));
    if (permits < 2) continue;
    PermitWaits& row = rows.emplace_back();
    row.pool = model::PoolId(pool);
    row.permits = permits;
    row.waits = use.waits.size();
    row.waited_ns = covered_ns(use.waits);
    const auto length_ns = [](const PermitWait& wait) { return wait.end_ns - wait.begin_ns; };
    if (row.waits > 0) row.context = std::ranges::max_element(use.waits, {}, length_ns)->context;
  }
  return rows;
}

}  // namespace contrafact::analysis
