#include "whatif/sim_wake_cost.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <span>
#include <tuple>
#include <utility>

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

struct Mean {
  double ns = 0, variance = 0;  // of the mean
};

// CPU times after releases at one place.
struct WakePlace {
  std::vector<Gap> woke, in_vain, alone;
  std::optional<Mean> woke_cost, in_vain_cost;  // where they are known
  double quiet_ns = 0, quiet_in_vain_ns = 0;    // the means that these are beyond
};

// Of the times of one code: their mean by their lower quartile, where nobody waits; and the ratio's variance.
struct Skew {
  double ratio = 1, variance = 0;
};

// A time that is much longer than the others is cut: something else took the core, unseen by the kernel's switches.
Mean mean_of(std::span<const Gap> gaps) {
  constexpr int64_t kLongerMost = 200'000;
  std::vector<int64_t> times_ns;
  for (const Gap& gap : gaps) times_ns.push_back(gap.ns);
  const auto longest_ns = static_cast<int64_t>(base::median(std::span(times_ns))) + kLongerMost;
  for (int64_t& one_ns : times_ns) one_ns = std::min(one_ns, longest_ns);
  const double mean_ns = base::mean(std::span(times_ns));
  double squares = 0;
  for (const int64_t one_ns : times_ns) {
    const double off_ns = static_cast<double>(one_ns) - mean_ns;
    squares += off_ns * off_ns;
  }
  const auto count = static_cast<double>(times_ns.size());
  return {mean_ns, std::max(1.0, squares / count / (count - 1))};
}

Mean difference(const Mean& x, const Mean& y) {
  return {x.ns - y.ns, x.variance + y.variance};
}

bool is_sure(const Mean& cost) {
  constexpr double kErrors = 5;
  return cost.ns > kErrors * std::sqrt(cost.variance);
}

bool is_enough(std::span<const Gap> gaps) {
  constexpr size_t kEnough = 20;
  return gaps.size() >= kEnough;
}

double median_ns(std::span<const Gap> gaps) {
  std::vector<int64_t> times_ns;
  for (const Gap& gap : gaps) times_ns.push_back(gap.ns);
  return base::median(std::span(times_ns));
}

double lower_quartile_ns(std::span<const Gap> gaps) {
  std::vector<int64_t> times_ns;
  for (const Gap& gap : gaps) times_ns.push_back(gap.ns);
  const auto quartile = times_ns.begin() + static_cast<int64_t>(times_ns.size() / 4);
  std::ranges::nth_element(times_ns, quartile);
  return static_cast<double>(*quartile);
}

// For how long the thread had no core, as far as the kernel reported.
int64_t off_core_ns(const model::Trace& trace, model::ThreadId thread, int64_t begin_ns, int64_t end_ns) {
  if (thread.index() >= trace.cpu.size()) return 0;
  const std::vector<model::CpuGap>& gaps = trace.cpu[thread.index()];
  int64_t off_ns = 0;
  for (auto gap = std::ranges::lower_bound(gaps, begin_ns, {}, &model::CpuGap::in_ns);
       gap != gaps.end() && gap->out_ns < end_ns; ++gap)
    off_ns += std::min(gap->in_ns, end_ns) - std::max(gap->out_ns, begin_ns);
  return off_ns;
}

// The mean cost of the releases, without the sixth at the places where the cost is least and the sixth where it is
// most: at a place whose work changed within an eighth of the run, the difference is no cost.
class TypicalCost {
 public:
  void add(const Mean& cost, size_t releases) {
    const auto count = static_cast<double>(releases);
    costs_.push_back({cost.ns, count});
    count_ += count;
    variance_ += count * count * cost.variance;
  }
  bool is_known() const { return !costs_.empty(); }
  // 0 where the cost is too small for its error.
  int64_t ns() {
    constexpr double kLeftOut = 1.0 / 6;
    if (count_ == 0) return 0;
    std::ranges::sort(costs_);
    double before = 0, sum_ns = 0;
    for (const auto& [ns, count] : costs_) {
      const double begin = std::max(before, kLeftOut * count_);
      before += count;
      sum_ns += ns * std::max(0.0, std::min(before, (1 - kLeftOut) * count_) - begin);
    }
    const Mean all{sum_ns / (count_ * (1 - 2 * kLeftOut)), variance_ / (count_ * count_)};
    return is_sure(all) ? std::llround(all.ns) : 0;
  }

 private:
  std::vector<std::pair<double, double>> costs_;  // cost, and how many releases have it
  double count_ = 0, variance_ = 0;
};

// The skew of each code, by the places that have enough releases for which nobody waited.
class Skews {
 public:
  void add(uint64_t code, const WakePlace& place) {
    if (!is_enough(place.alone)) return;
    const Mean mean = mean_of(place.alone);
    const auto count = static_cast<double>(place.alone.size());
    Sums& sums = of_code_[code];
    sums.mean += count * mean.ns;
    sums.quartile += count * lower_quartile_ns(place.alone);
    sums.variance += count * count * mean.variance;
  }
  std::optional<Skew> of(uint64_t code) const {
    const auto known = of_code_.find(code);
    if (known == of_code_.end() || known->second.quartile <= 0) return std::nullopt;
    const auto& [mean, quartile, variance] = known->second;
    return Skew{mean / quartile, variance / (quartile * quartile)};
  }

 private:
  struct Sums {
    double mean = 0, quartile = 0, variance = 0;
  };
  std::map<uint64_t, Sums> of_code_;
};

// At a lock that threads nearly always wait for, few places have releases for which nobody waited. There, a quarter of
// those in vain is taken to cost nothing: the lower quartile, with the skew of the code, tells what they take without waiters.
void measure_in_vain(WakePlace& place, const std::optional<Skew>& skew) {
  if (!is_enough(place.in_vain)) return;
  Mean quiet;
  if (is_enough(place.alone)) {
    quiet = mean_of(place.alone);
  } else if (skew) {
    const double low_ns = lower_quartile_ns(place.in_vain);
    quiet = {skew->ratio * low_ns, skew->variance * low_ns * low_ns};
  } else {
    return;
  }
  place.quiet_in_vain_ns = quiet.ns;
  place.in_vain_cost = difference(mean_of(place.in_vain), quiet);
}

// `in_vain_ns`: the cost of waiters at other places.
void measure_woke(WakePlace& place, int64_t in_vain_ns) {
  if (!is_enough(place.woke)) return;
  Mean quiet;
  if (is_enough(place.alone)) {
    quiet = mean_of(place.alone);
  } else if (is_enough(place.in_vain)) {
    quiet = mean_of(place.in_vain);
    quiet.ns = place.in_vain_cost ? place.quiet_in_vain_ns : quiet.ns - static_cast<double>(in_vain_ns);
  } else {
    return;
  }
  place.quiet_ns = quiet.ns;
  place.woke_cost = difference(mean_of(place.woke), quiet);
}

// At a lock that threads nearly always wait for, no place has many releases that woke no thread. The few of all places
// give the cost together. Each is compared with releases that woke a thread: by the same thread, of the same code and
// within the same eighth of the run.
class CostOfFew {
 public:
  void add(const WakePlace& place) {
    if (!is_enough(place.woke)) return;
    const double woke_ns = median_ns(place.woke);
    for (const std::vector<Gap>* gaps : {&place.in_vain, &place.alone}) {
      for (const Gap& gap : *gaps) less_ns_.push_back(woke_ns - static_cast<double>(gap.ns));
    }
  }
  // 0 where the cost is too small for its error.
  int64_t ns() {
    constexpr size_t kFew = 8;
    if (less_ns_.size() < kFew) return 0;
    const double middle_ns = base::median(std::span(less_ns_));
    for (double& one_ns : less_ns_) one_ns = std::abs(one_ns - middle_ns);
    // Of normal errors: 1.483 median deviations are a standard deviation, and the median's is 1.253 of the mean's.
    const double error_ns =
        1.483 * 1.253 * base::median(std::span(less_ns_)) / std::sqrt(static_cast<double>(less_ns_.size()));
    return is_sure({middle_ns, error_ns * error_ns}) ? std::llround(middle_ns) : 0;
  }

 private:
  std::vector<double> less_ns_;
};

// The cost of a release is its time beyond `quiet_ns`, scaled down so that all together cost as much as the place
// shows.
void share_out(std::span<const Gap> gaps, const Mean& cost, double quiet_ns, std::vector<int64_t>& cost_ns) {
  double longer_ns = 0;
  const auto longer = [&](const Gap& gap) { return std::max(0.0, static_cast<double>(gap.ns) - quiet_ns); };
  for (const Gap& gap : gaps) longer_ns += longer(gap);
  if (longer_ns <= 0) return;
  const double share = std::min(1.0, cost.ns * static_cast<double>(gaps.size()) / longer_ns);
  for (const Gap& gap : gaps) cost_ns[gap.section] = std::llround(share * longer(gap));
}

void take_all(std::span<const Gap> gaps, int64_t ns, std::vector<int64_t>& cost_ns) {
  for (const Gap& gap : gaps) cost_ns[gap.section] = std::min(ns, gap.ns);
}

// The line that a site is at. The site itself differs: only threads that waited have their callers recorded.
uint64_t code_of(const model::Trace& trace, model::ContextId site) {
  if (!site.valid()) return UINT64_MAX;
  const format::ContextRow& row = trace.contexts[site.index()];
  return uint64_t{row.method.value} << 32 | row.line;
}

// Whether a thread acquires a lock at once depends on how long it was away: both ways to ask for one are the same next
// event.
format::EventKind as_asked(format::EventKind kind) {
  using format::EventKind;
  switch (kind) {
    case EventKind::lock_request:
      return EventKind::lock_acquire;
    case EventKind::lock_request_shared:
      return EventKind::lock_acquire_shared;
    default:
      return kind;
  }
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
  std::map<std::tuple<uint32_t, uint32_t, uint64_t, format::EventKind, uint32_t>, WakePlace> places;
  const Eighths eighths(trace);
  for (uint32_t s = 0; s < sections.size(); ++s) {
    const CriticalSection& section = sections[s];
    if (!counts(trace, section)) continue;
    const uint32_t next = section.release.value + 1;
    if (next >= trace.thread_events(section.thread).end) continue;
    const int64_t begin_ns = section.release_ns, end_ns = trace.time_ns[next];
    const int64_t off_ns = off_core_ns(trace, section.thread, begin_ns, end_ns);
    if (off_ns > 0 && !cost.woke[s]) continue;  // a woken thread may take the core
    WakePlace& place = places[{eighths.of(begin_ns), section.thread.value, code_of(trace, section.site),
                               as_asked(trace.kind[next]), trace.a[next]}];
    (cost.woke[s]    ? place.woke
     : cost.slept[s] ? place.in_vain
                     : place.alone)
        .push_back({s, end_ns - begin_ns - off_ns});
  }
  Skews skews;
  for (const auto& [where, place] : places) skews.add(std::get<2>(where), place);
  TypicalCost in_vain, woke;
  for (auto& [where, place] : places) {
    measure_in_vain(place, skews.of(std::get<2>(where)));
    if (place.in_vain_cost) in_vain.add(*place.in_vain_cost, place.in_vain.size());
  }
  cost.in_vain_ns = in_vain.ns();
  CostOfFew few;
  for (auto& [where, place] : places) {
    measure_woke(place, cost.in_vain_ns);
    if (place.woke_cost)
      woke.add(*place.woke_cost, place.woke.size());
    else
      few.add(place);
  }
  cost.ns = woke.is_known() ? woke.ns() : few.ns();
  for (const auto& [where, place] : places) {
    if (cost.in_vain_ns > 0) {
      if (place.in_vain_cost && is_sure(*place.in_vain_cost))
        share_out(place.in_vain, *place.in_vain_cost, place.quiet_in_vain_ns, cost.recorded_ns);
      else
        take_all(place.in_vain, cost.in_vain_ns, cost.recorded_ns);
    }
    if (cost.ns == 0) continue;
    if (place.woke_cost && is_sure(*place.woke_cost))
      share_out(place.woke, *place.woke_cost, place.quiet_ns, cost.recorded_ns);
    else
      take_all(place.woke, cost.ns, cost.recorded_ns);
  }
  return cost;
}

}  // namespace contrafact::whatif
