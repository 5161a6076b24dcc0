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
  uint32_t thread;
  bool preempted;
  int64_t ran_ns;  // how long it had run there; without a beginning, as long as can be
};

std::vector<Leaving> leavings_of(const model::Trace& trace) {
  std::vector<Leaving> leavings;
  for (uint32_t t = 0; t < trace.cpu.size(); ++t) {
    int64_t since_ns = INT64_MIN;
    for (const model::CpuGap& gap : trace.cpu[t]) {
      leavings.push_back({gap.out_ns, t, gap.preempted, base::subtract_saturated(gap.out_ns, since_ns)});
      since_ns = gap.in_ns;
    }
  }
  std::ranges::sort(leavings, {}, &Leaving::time_ns);
  return leavings;
}

// A thread that runs right after another one left a core had queued for that core, or preempted the other one. A thread
// that had run for kTurnMin was preempted at the end of its turn, not by a thread that was just woken.
double preempting_share(const model::Trace& trace) {
  constexpr int64_t kSwitchMax = 1'500, kTurnMin = 1'000'000;
  constexpr int kLookMost = 16;  // as many threads as can leave cores at once
  const std::vector<Leaving> leavings = leavings_of(trace);
  size_t took = 0, queued = 0;
  for (uint32_t t = 0; t < trace.cpu.size(); ++t) {
    for (const model::CpuGap& gap : trace.cpu[t]) {
      if (gap.preempted) continue;
      const Leaving* left = nullptr;
      auto before = std::ranges::upper_bound(leavings, gap.in_ns, {}, &Leaving::time_ns);
      for (int looks = 0; looks < kLookMost && before != leavings.begin(); ++looks) {
        if (base::subtract_saturated(gap.in_ns, (--before)->time_ns) > kSwitchMax) break;
        if (before->thread != t && (left == nullptr || before->preempted)) left = &*before;
      }
      if (left == nullptr || (left->preempted && left->ran_ns >= kTurnMin)) continue;
      ++(left->preempted ? took : queued);
    }
  }
  return took + queued < kEnough ? 0 : static_cast<double>(took) / static_cast<double>(took + queued);
}

}  // namespace

WakePlacement measure_wake_placement(const model::Trace& trace, std::span<const model::CriticalSection> sections,
                                     const Woken& woken, const BusyCores& busy) {
  WakePlacement placement;
  placement.known = woken.known;
  if (!woken.known) return placement;
  placement.preempting = preempting_share(trace);
  std::vector<int64_t> ways_ns = all_ways_by_kernel(sections, woken, busy);
  std::ranges::sort(ways_ns);
  const auto stuck = std::ranges::upper_bound(ways_ns, longest_way_ns(ways_ns));
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
