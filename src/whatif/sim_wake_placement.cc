#include "whatif/sim_wake_placement.h"

#include <algorithm>
#include <vector>

#include "base/saturating.h"
#include "whatif/sim_lock_ways.h"

namespace contrafact::whatif {
namespace {

// A handful says little.
constexpr size_t kEnough = 20;

// A thread left its core.
struct Leaving {
  int64_t time_ns;
  bool preempted;
  int64_t ran_ns;  // how long it had run there; without a beginning, as long as can be
};

std::vector<Leaving> leavings_of(const model::Trace& trace) {
  std::vector<Leaving> leavings;
  for (const std::vector<model::CpuGap>& gaps : trace.cpu) {
    int64_t since_ns = INT64_MIN;
    for (const model::CpuGap& gap : gaps) {
      leavings.push_back({gap.out_ns, gap.preempted, base::subtract_saturated(gap.out_ns, since_ns)});
      since_ns = gap.in_ns;
    }
  }
  std::ranges::sort(leavings, {}, &Leaving::time_ns);
  return leavings;
}

constexpr int64_t kSwitchMax = 1'500;  // from one thread's leaving to the next one's coming

// The thread that left a core right before another one came to one at `in_ns`; null if there is none. Of several the one
// that was preempted.
const Leaving* left_before(std::span<const Leaving> leavings, int64_t in_ns) {
  constexpr int kLookMost = 16;  // as many threads as can leave cores at once
  const Leaving* left = nullptr;
  auto before = std::ranges::upper_bound(leavings, in_ns, {}, &Leaving::time_ns);
  for (int looks = 0; looks < kLookMost && before != leavings.begin(); ++looks) {
    if (base::subtract_saturated(in_ns, (--before)->time_ns) > kSwitchMax) break;
    if (left == nullptr || before->preempted) left = &*before;
  }
  return left;
}

// A thread that had run for this long was preempted at the end of its turn, not by a thread that was just woken.
constexpr int64_t kTurnMin = 1'000'000;

double share_of(size_t took, size_t queued) {
  return took + queued < kEnough ? 0 : static_cast<double>(took) / static_cast<double>(took + queued);
}

// A thread that runs right after another one left a core had queued for that core, or preempted the other one.
double preempting_share(const model::Trace& trace, std::span<const Leaving> leavings) {
  size_t took = 0, queued = 0;
  for (const std::vector<model::CpuGap>& gaps : trace.cpu) {
    for (const model::CpuGap& gap : gaps) {
      if (gap.preempted) continue;
      const Leaving* left = left_before(leavings, gap.in_ns);
      if (left == nullptr || (left->preempted && left->ran_ns >= kTurnMin)) continue;
      ++(left->preempted ? took : queued);
    }
  }
  return share_of(took, queued);
}

// Of the threads that were woken while a core was free, and still did not get that one: the share that preempted another.
double preempting_though_idle(std::span<const model::CriticalSection> sections, const Woken& woken,
                              const BusyCores& busy, std::span<const Leaving> leavings, int64_t longest_way_ns) {
  size_t took = 0, queued = 0;
  for (size_t s = 0; s < woken.by_release.size(); ++s) {
    if (!woken.woke(s) || !busy.was_free(sections[s].release_ns)) continue;
    const Woken::Coming& coming = woken.by_release[s];
    const Leaving* left = left_before(leavings, coming.core_ns);
    if (coming.core_ns - sections[s].release_ns > longest_way_ns) {
      ++queued;
    } else if (left != nullptr && !(left->preempted && left->ran_ns >= kTurnMin)) {
      ++(left->preempted ? took : queued);
    }
  }
  return share_of(took, queued);
}

}  // namespace

WakePlacement measure_wake_placement(const model::Trace& trace, std::span<const model::CriticalSection> sections,
                                     const Woken& woken, const BusyCores& busy) {
  WakePlacement placement;
  placement.known = woken.known;
  if (!woken.known) return placement;
  const std::vector<Leaving> leavings = leavings_of(trace);
  placement.preempting = preempting_share(trace, leavings);
  std::vector<int64_t> ways_ns = all_ways_by_kernel(sections, woken, busy);
  std::ranges::sort(ways_ns);
  const int64_t longest_ns = longest_way_ns(ways_ns);
  placement.preempting_though_idle = preempting_though_idle(sections, woken, busy, leavings, longest_ns);
  const auto stuck = std::ranges::upper_bound(ways_ns, longest_ns);
  const auto stuck_count = static_cast<size_t>(ways_ns.end() - stuck);
  constexpr size_t kRare = 100;
  if (stuck_count < kEnough || stuck_count * kRare < ways_ns.size()) return placement;
  // Wake-ups happen anywhere between two ticks: three in four wait for less than three quarters of the time between.
  constexpr int64_t kLeastTick = 1'000'000, kMostTick = 10'000'000;
  const int64_t three_quarters_ns = std::min(stuck[static_cast<ptrdiff_t>(stuck_count * 3 / 4)], kMostTick);
  placement.stays = true;
  placement.tick_ns = std::clamp(three_quarters_ns / 3 * 4, kLeastTick, kMostTick);
  return placement;
}

}  // namespace contrafact::whatif
