#include "whatif/sim_lock_ways.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <utility>

#include "base/saturating.h"
#include "whatif/sim_latency.h"

namespace contrafact::whatif {
namespace {

using model::CriticalSection;

bool is_of_mutex(const model::Trace& trace, const CriticalSection& section) {
  return section.outcome == model::Outcome::normal && trace.locks[section.lock.index()].kind == format::LockKind::mutex;
}

// The most work that an estimate is worth: the sum of the squares of the chases' holds.
constexpr size_t kWorkMax = 100'000;

// Adds the chases of one lock's sections.
void add_chases(std::span<const CriticalSection> sections, const BusyCores& busy, size_t& work,
                std::vector<Chase>& chases) {
  // By section: the first request of the sleepers that acquire the lock from there on.
  std::vector<int64_t> asked_ns(sections.size() + 1, INT64_MAX);
  for (size_t i = sections.size(); i > 0; --i) {
    const CriticalSection& section = sections[i - 1];
    asked_ns[i - 1] = std::min(asked_ns[i], section.contended() ? section.request_ns : INT64_MAX);
  }
  Chase chase;
  int64_t since_ns = 0;
  bool chased = false;
  for (size_t i = 1; i < sections.size() && work < kWorkMax; ++i) {
    const CriticalSection& section = sections[i];
    const int64_t freed_ns = sections[i - 1].release_ns;
    if (!chased && asked_ns[i] < freed_ns) {
      chase = {};
      since_ns = freed_ns;
      chased = true;
    }
    if (!chased) continue;
    if (!section.contended() || section.request_ns >= freed_ns) {
      chase.holds.push_back({section.acquire_ns - since_ns, section.release_ns - since_ns});
      continue;
    }
    chased = false;
    chase.end_ns = section.acquire_ns - since_ns;
    if (section.acquire_ns < freed_ns || !busy.was_free(since_ns)) continue;
    work += (chase.holds.size() + 1) * (chase.holds.size() + 1);
    chases.push_back(std::exchange(chase, {}));
  }
}

// A histogram of lengths up to 2^40 ns: four bins for each doubling, within which the logarithm is spread evenly.
class Histogram {
 public:
  static constexpr size_t kBins = 160;

  Histogram() {
    mass_.fill(1.0 / kBins);
    sum();
  }

  static double place(int64_t ns) {
    return std::min(4 * std::log2(static_cast<double>(std::max<int64_t>(ns, 1))), static_cast<double>(kBins) - 1e-6);
  }
  static size_t bin(int64_t ns) { return static_cast<size_t>(place(ns)); }

  // The likelihood of one ns there, up to a constant factor.
  double density(int64_t ns) const { return mass_[bin(ns)] / static_cast<double>(std::max<int64_t>(ns, 1)); }
  double between(int64_t from_ns, int64_t to_ns) const { return until(place(to_ns)) - until(place(from_ns)); }

  // Spreads `weight` over the bins from one time to the other, in proportion to what the bins hold now.
  void share_out(int64_t from_ns, int64_t to_ns, double weight, Histogram& counts) const {
    const double all = between(from_ns, to_ns);
    if (all <= 0) return;
    const double from = place(from_ns), to = place(to_ns);
    for (auto k = static_cast<size_t>(from); k < kBins && static_cast<double>(k) < to; ++k) {
      const double part = std::min(to, static_cast<double>(k + 1)) - std::max(from, static_cast<double>(k));
      counts.mass_[k] += weight * mass_[k] * part / all;
    }
  }
  void add(int64_t ns, double weight) { mass_[bin(ns)] += weight; }
  void clear() { mass_.fill(0); }
  void normalise() {
    const double all = std::accumulate(mass_.begin(), mass_.end(), 0.0);
    for (double& mass : mass_) mass /= all;
    sum();
  }

  int64_t at(double share) const {
    size_t k = 0;
    while (k + 1 < kBins && before_[k + 1] < share) ++k;
    const double within = mass_[k] > 0 ? std::clamp((share - before_[k]) / mass_[k], 0.0, 1.0) : 0;
    return std::llround(std::exp2((static_cast<double>(k) + within) / 4));
  }

 private:
  double until(double place) const {
    const auto k = static_cast<size_t>(place);
    return before_[k] + mass_[k] * (place - static_cast<double>(k));
  }
  void sum() {
    before_[0] = 0;
    for (size_t k = 0; k < kBins; ++k) before_[k + 1] = before_[k] + mass_[k];
  }

  std::array<double, kBins> mass_;
  std::array<double, kBins + 1> before_;
};

// The histogram to begin with: every way is over as soon as it can be. With a flat histogram, a chase of a hundred
// holds would seem one long way, not a hundred ways that each have to be likely, and would stay one.
Histogram shortest_ways(std::span<const Chase> chases) {
  const Histogram flat;
  Histogram counts;
  for (const Chase& chase : chases) {
    int64_t start_ns = 0;
    for (const Chase::Hold& hold : chase.holds) {
      flat.share_out(hold.begin_ns - start_ns, hold.end_ns - start_ns, 1, counts);
      start_ns = hold.end_ns;
    }
    counts.add(chase.end_ns - start_ns, 1);
  }
  counts.normalise();
  return counts;
}

// One chase explained: ways set out at time 0 or at the end of a hold, and ended in a later hold or at the very end.
class Explanation {
 public:
  // Adds the ways that may have been made to `counts`; all explanations together weigh as much as one chase.
  void add(const Chase& chase, const Histogram& likely, Histogram& counts) {
    const size_t n = chase.holds.size() + 1;  // way 0 sets out at time 0, way j at the end of hold j - 1
    const auto start_ns = [&](size_t way) { return way == 0 ? 0 : chase.holds[way - 1].end_ns; };
    const auto passes = [&](size_t way, size_t next) {
      const Chase::Hold& hold = chase.holds[next - 1];
      return likely.between(hold.begin_ns - start_ns(way), hold.end_ns - start_ns(way));
    };
    set_out_.assign(n, 0);
    goes_on_.assign(n, 0);
    set_out_[0] = 1;
    for (size_t next = 1; next < n; ++next) {
      for (size_t way = 0; way < next; ++way) set_out_[next] += set_out_[way] * passes(way, next);
    }
    for (size_t way = n; way-- > 0;) {
      goes_on_[way] = likely.density(chase.end_ns - start_ns(way));
      for (size_t next = way + 1; next < n; ++next) goes_on_[way] += passes(way, next) * goes_on_[next];
    }
    const double all = goes_on_[0];
    if (all <= 0) return;
    for (size_t way = 0; way < n; ++way) {
      const int64_t length_ns = chase.end_ns - start_ns(way);
      counts.add(length_ns, set_out_[way] * likely.density(length_ns) / all);
      for (size_t next = way + 1; next < n; ++next) {
        const Chase::Hold& hold = chase.holds[next - 1];
        likely.share_out(hold.begin_ns - start_ns(way), hold.end_ns - start_ns(way),
                         set_out_[way] * passes(way, next) * goes_on_[next] / all, counts);
      }
    }
  }

 private:
  std::vector<double> set_out_, goes_on_;  // by way: how likely it was made, and how likely what followed is
};

}  // namespace

std::vector<Chase> chases(const model::Trace& trace, std::span<const CriticalSection> sections, const BusyCores& busy) {
  std::vector<Chase> found;
  std::vector<CriticalSection> of_lock;
  size_t work = 0;
  for (size_t i = 0; i < sections.size(); ++i) {
    if (is_of_mutex(trace, sections[i])) of_lock.push_back(sections[i]);
    if (i + 1 < sections.size() && sections[i + 1].lock == sections[i].lock) continue;
    add_chases(of_lock, busy, work, found);
    of_lock.clear();
  }
  return found;
}

std::vector<int64_t> all_ways_by_kernel(std::span<const CriticalSection> sections, const Woken& woken,
                                        const BusyCores& busy) {
  struct Way {
    int64_t release_ns, way_ns;
  };
  std::vector<Way> ways;
  for (size_t s = 0; s < woken.by_release.size(); ++s) {
    if (!woken.woke(s) || !busy.was_free(sections[s].release_ns)) continue;
    const Woken::Coming& coming = woken.by_release[s];
    if (!busy.was_free(coming.core_ns - 1)) continue;  // it may have waited for that core
    ways.push_back({sections[s].release_ns, coming.there_ns - sections[s].release_ns});
  }
  std::ranges::stable_sort(ways, {}, &Way::release_ns);
  std::vector<int64_t> ways_ns;
  for (const Way& way : ways) ways_ns.push_back(way.way_ns);
  return ways_ns;
}

int64_t longest_way_ns(std::vector<int64_t> ways_ns) {
  constexpr int64_t kTimes = 10;
  constexpr size_t kMost = 7;  // of ten
  if (ways_ns.empty()) return 0;
  const auto long_one = ways_ns.begin() + static_cast<ptrdiff_t>(ways_ns.size() * kMost / 10);
  std::ranges::nth_element(ways_ns, long_one);
  return base::multiply_saturated(*long_one, kTimes);
}

std::vector<int64_t> ways_by_kernel(std::span<const CriticalSection> sections, const Woken& woken,
                                    const BusyCores& busy) {
  std::vector<int64_t> ways_ns = all_ways_by_kernel(sections, woken, busy);
  std::erase_if(ways_ns, [longest_ns = longest_way_ns(ways_ns)](int64_t ns) { return ns > longest_ns; });
  return ways_ns;
}

std::vector<int64_t> way_lengths(std::span<const Chase> chases) {
  constexpr size_t kRounds = 20, kLengths = 400;
  if (chases.empty()) return {};
  Histogram likely = shortest_ways(chases), counts;
  Explanation explanation;
  for (size_t round = 0; round < kRounds; ++round) {
    counts.clear();
    for (const Chase& chase : chases) explanation.add(chase, likely, counts);
    counts.normalise();
    likely = counts;
  }
  std::vector<int64_t> lengths_ns;
  for (size_t i = 0; i < kLengths; ++i)
    lengths_ns.push_back(likely.at((static_cast<double>(i) + 0.5) / static_cast<double>(kLengths)));
  return lengths_ns;
}

}  // namespace contrafact::whatif
