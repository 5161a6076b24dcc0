#include "whatif/sim_wake_cost.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <span>
#include <tuple>

#include "base/middle.h"

namespace contrafact::whatif {
namespace {

using model::CriticalSection;

bool counts(const model::Trace& trace, const CriticalSection& section) {
  const format::LockKind kind = trace.locks[section.lock.index()].kind;
  return section.outcome == model::Outcome::normal && section.release.valid() &&
         (kind == format::LockKind::mutex || kind == format::LockKind::rwlock);
}

std::vector<bool> with_sleepers(const model::Trace& trace, std::span<const CriticalSection> sections) {
  std::vector<bool> slept(sections.size());
  int64_t asked_ns = INT64_MAX;  // when the first of the sleepers that acquire the lock later asked for it
  for (size_t s = sections.size(); s > 0; --s) {
    const CriticalSection& section = sections[s - 1];
    if (s < sections.size() && sections[s].lock != section.lock) asked_ns = INT64_MAX;
    slept[s - 1] = asked_ns < section.release_ns;
    if (counts(trace, section) && section.contended()) asked_ns = std::min(asked_ns, section.request_ns);
  }
  return slept;
}

struct Gap {
  uint32_t section;
  int64_t ns;
};

// CPU times after releases at one place.
struct AskingPlace {
  std::vector<Gap> woke;
  std::vector<int64_t> quiet_ns;
  double quiet_mean_ns = 0, cost_ns = 0, variance = 0;  // where it is known
};

struct Mean {
  double ns = 0, variance = 0;  // of the mean
};

Mean typical(std::vector<int64_t>& times_ns) {
  const std::span<const int64_t> kept_ns = base::without_longest(std::span(times_ns));
  const double mean_ns = base::mean(kept_ns);
  double squares = 0;
  for (const int64_t one_ns : kept_ns) {
    const double off_ns = static_cast<double>(one_ns) - mean_ns;
    squares += off_ns * off_ns;
  }
  return {mean_ns, squares / static_cast<double>(kept_ns.size()) / static_cast<double>(kept_ns.size() - 1)};
}

// Whether the thread kept its core throughout, as far as the kernel reported.
bool kept_core(const model::Trace& trace, model::ThreadId thread, int64_t begin_ns, int64_t end_ns) {
  if (thread.index() >= trace.cpu.size()) return true;
  const std::vector<model::CpuGap>& gaps = trace.cpu[thread.index()];
  const auto gap = std::ranges::lower_bound(gaps, begin_ns, {}, &model::CpuGap::in_ns);
  return gap == gaps.end() || gap->out_ns >= end_ns;
}

// Whether the place shows what waking costs, and how surely: in `place`.
bool measure(AskingPlace& place) {
  constexpr size_t kEnough = 20;
  if (place.woke.size() < kEnough || place.quiet_ns.size() < kEnough) return false;
  std::vector<int64_t> woke_ns;
  for (const Gap& gap : place.woke) woke_ns.push_back(gap.ns);
  const Mean woke = typical(woke_ns), quiet = typical(place.quiet_ns);
  place.quiet_mean_ns = quiet.ns;
  place.cost_ns = woke.ns - quiet.ns;
  place.variance = std::max(woke.variance + quiet.variance, 1.0);
  return true;
}

bool is_sure(double cost_ns, double variance) {
  constexpr double kErrors = 5;
  return cost_ns > kErrors * std::sqrt(variance);
}

// What the place's releases took longer than those that woke nobody, but no more in all than the place shows.
void share_out(const AskingPlace& place, std::vector<int64_t>& cost_ns) {
  double longer_ns = 0;
  const auto longer = [&](const Gap& gap) { return std::max(0.0, static_cast<double>(gap.ns) - place.quiet_mean_ns); };
  for (const Gap& gap : place.woke) longer_ns += longer(gap);
  if (longer_ns <= 0) return;
  const double share = std::min(1.0, place.cost_ns * static_cast<double>(place.woke.size()) / longer_ns);
  for (const Gap& gap : place.woke) cost_ns[gap.section] = std::llround(share * longer(gap));
}

// The eighth of the run that a time lies in. Times may be anything.
class Eighths {
 public:
  explicit Eighths(const model::Trace& trace) {
    if (trace.time_ns.empty()) return;
    const auto [first, last] = std::ranges::minmax(trace.time_ns);
    first_ns_ = static_cast<uint64_t>(first);
    length_ns_ = (static_cast<uint64_t>(last) - first_ns_) / kEighths + 1;
  }
  uint32_t of(int64_t time_ns) const {
    return static_cast<uint32_t>((static_cast<uint64_t>(time_ns) - first_ns_) / length_ns_);
  }

 private:
  static constexpr uint64_t kEighths = 8;
  uint64_t first_ns_ = 0, length_ns_ = 1;
};

}  // namespace

WakeCost measure_wake_cost(const model::Trace& trace, std::span<const CriticalSection> sections, const Woken& woken) {
  WakeCost cost;
  cost.slept = cost.woke = with_sleepers(trace, sections);
  cost.recorded_ns.resize(sections.size());
  cost.wakes_known = woken.known;
  if (woken.known) {
    for_each_lock(sections, [&](std::span<const CriticalSection> of_lock, size_t begin) {
      if (!serves_as_mutex(trace, of_lock)) return;
      for (size_t s = begin; s < begin + of_lock.size(); ++s) cost.woke[s] = woken.woke(s);
    });
  }
  std::map<std::tuple<uint32_t, uint32_t, uint32_t, format::EventKind, uint32_t>, AskingPlace> places;
  const Eighths eighths(trace);
  for (uint32_t s = 0; s < sections.size(); ++s) {
    const CriticalSection& section = sections[s];
    if (!counts(trace, section)) continue;
    const uint32_t next = section.release.value + 1;
    if (next >= trace.thread_events(section.thread).end) continue;
    const int64_t begin_ns = section.release_ns, end_ns = trace.time_ns[next];
    if (!kept_core(trace, section.thread, begin_ns, end_ns)) continue;
    AskingPlace& place =
        places[{eighths.of(begin_ns), section.thread.value, section.site.value, trace.kind[next], trace.a[next]}];
    if (cost.woke[s]) {
      place.woke.push_back({s, end_ns - begin_ns});
    } else {
      place.quiet_ns.push_back(end_ns - begin_ns);
    }
  }
  double weights = 0, weighted_ns = 0;
  for (auto& [where, place] : places) {
    if (!measure(place)) continue;
    weights += 1 / place.variance;
    weighted_ns += place.cost_ns / place.variance;
  }
  if (weights == 0 || !is_sure(weighted_ns / weights, 1 / weights)) return cost;
  cost.ns = std::llround(weighted_ns / weights);
  for (const auto& [where, place] : places) {
    if (is_sure(place.cost_ns, place.variance)) {
      share_out(place, cost.recorded_ns);
      continue;
    }
    for (const Gap& gap : place.woke) cost.recorded_ns[gap.section] = std::min(cost.ns, gap.ns);
  }
  return cost;
}

}  // namespace contrafact::whatif
