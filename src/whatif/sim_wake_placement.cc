#include "whatif/sim_wake_placement.h"

#include <algorithm>
#include <charconv>
#include <string_view>
#include <utility>
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

// The thread that left a core right before another one came to a core at `in_ns`; null if there is none. Of several,
// the one that was preempted.
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

// Threads that run right after another one left a core: they had queued for that core, or preempted the other one.
struct Comings {
  size_t took = 0, queued = 0;

  void add(std::span<const Leaving> leavings, int64_t core_ns) {
    const Leaving* left = left_before(leavings, core_ns);
    if (left == nullptr || (left->preempted && left->ran_ns >= kTurnMin)) return;
    ++(left->preempted ? took : queued);
  }
  double share() const { return share_of(took, queued); }
};

// Of those that a release woke while all cores were in use. Where these are few, of all threads: a packet's or a timer's interrupt wakes,
// too, and Linux lets such a thread preempt more often than one that the running thread wakes.
double preempting_share(const model::Trace& trace, std::span<const model::CriticalSection> sections, const Woken& woken,
                        const BusyCores& busy, std::span<const Leaving> leavings) {
  Comings by_release, all;
  for (size_t s = 0; s < woken.by_release.size(); ++s) {
    if (woken.woke(s) && !busy.was_free(sections[s].release_ns)) by_release.add(leavings, woken.by_release[s].core_ns);
  }
  if (by_release.took + by_release.queued >= kEnough) return by_release.share();
  for (const std::vector<model::CpuGap>& gaps : trace.cpu) {
    for (const model::CpuGap& gap : gaps) {
      if (!gap.preempted) all.add(leavings, gap.in_ns);
    }
  }
  return all.share();
}

// The threads that were woken while a core was free: how many preempted another one's thread, or queued for its core.
struct ThoughIdle {
  size_t woken = 0, took = 0, queued = 0;
};

ThoughIdle count_though_idle(std::span<const model::CriticalSection> sections, const Woken& woken,
                             const BusyCores& busy, std::span<const Leaving> leavings, int64_t longest_way_ns) {
  ThoughIdle count;
  auto& [all, took, queued] = count;
  for (size_t s = 0; s < woken.by_release.size(); ++s) {
    if (!woken.woke(s) || !busy.was_free(sections[s].release_ns)) continue;
    ++all;
    const Woken::Coming& coming = woken.by_release[s];
    const Leaving* left = left_before(leavings, coming.core_ns);
    if (coming.core_ns - sections[s].release_ns > longest_way_ns) {
      ++queued;
    } else if (left != nullptr && !(left->preempted && left->ran_ns >= kTurnMin)) {
      ++(left->preempted ? took : queued);
    }
  }
  return count;
}

// The time between two ticks of a core, by how long threads waited for one, ascending.
int64_t tick_of(std::span<const int64_t> stuck_ns) {
  constexpr int64_t kLeast = 1'000'000, kMost = 10'000'000;
  constexpr int64_t kUsual = 4'000'000;  // 250 a second
  if (stuck_ns.size() < kEnough) return kUsual;
  // Threads are woken anywhere between two ticks: three in four wait for less than three quarters of the time between.
  return std::clamp(std::min(stuck_ns[stuck_ns.size() * 3 / 4], kMost) / 3 * 4, kLeast, kMost);
}

// `system`: as "Linux 6.18.44 x86_64".
bool keeps_lag(std::string_view system) {
  constexpr std::string_view kLinux = "Linux ";
  if (!system.starts_with(kLinux)) return false;
  std::string_view release = system.substr(kLinux.size());
  const auto number = [&release] {
    int value = 0;
    const auto [end, error] = std::from_chars(release.data(), release.data() + release.size(), value);
    release.remove_prefix(static_cast<size_t>(end - release.data()));
    if (release.starts_with('.')) release.remove_prefix(1);
    return error == std::errc() ? value : 0;
  };
  const int major = number();
  return std::pair(major, number()) >= std::pair(6, 12);
}

}  // namespace

WakePlacement measure_wake_placement(const model::Trace& trace, std::span<const model::CriticalSection> sections,
                                     const Woken& woken, const BusyCores& busy) {
  WakePlacement placement;
  placement.known = woken.known;
  placement.keeps_lag = keeps_lag(trace.fact("system"));
  if (!woken.known) return placement;
  const std::vector<Leaving> leavings = leavings_of(trace);
  placement.preempting = preempting_share(trace, sections, woken, busy, leavings);
  std::vector<int64_t> ways_ns = all_ways_by_kernel(sections, woken, busy);
  std::ranges::sort(ways_ns);
  const int64_t longest_ns = longest_way_ns(ways_ns);
  const ThoughIdle idle = count_though_idle(sections, woken, busy, leavings, longest_ns);
  placement.preempting_though_idle = share_of(idle.took, idle.queued);
  placement.staying = share_of(idle.took + idle.queued, idle.woken - idle.took - idle.queued);
  if (placement.staying > 0)
    placement.tick_ns = tick_of(std::span(std::ranges::upper_bound(ways_ns, longest_ns), ways_ns.end()));
  return placement;
}

}  // namespace contrafact::whatif
