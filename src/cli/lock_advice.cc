#include "cli/lock_advice.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "analysis/lock_profile.h"

namespace contrafact::cli {
namespace {

using analysis::LockRemedy;
using analysis::RemedyKind;
using whatif::LockOptimisation;

constexpr std::string_view kAGain = "a gain";

LockOptimisation optimisation_of(RemedyKind kind) {
  switch (kind) {
    case RemedyKind::drop_lock:
      return LockOptimisation::drop_lock;
    case RemedyKind::reader_writer_lock:
      return LockOptimisation::reader_writer_lock;
    case RemedyKind::split_lock:
      return LockOptimisation::split_lock;
    case RemedyKind::shorten_section:
      return LockOptimisation::shorten_section;
    case RemedyKind::make_atomic:
      return LockOptimisation::make_atomic;
  }
  return LockOptimisation::drop_lock;
}

whatif::LockImprovement improvement_of(const LockRemedy& remedy) {
  return {optimisation_of(remedy.kind), remedy.sections, remedy.part, remedy.head_ns, remedy.tail_ns};
}

// What the locks' waits come to: an upper bound of what may be gained, as good as any for choosing.
int64_t waits_ns(const analysis::SectionFacts& facts, const LockRemedy& remedy) {
  std::vector<bool> concerned(facts.trace->locks.size());
  for (const model::LockId lock : remedy.locks) concerned[lock.index()] = true;
  int64_t sum_ns = 0;
  for (const model::CriticalSection& section : facts.sections) {
    if (concerned[section.lock.index()]) sum_ns += section.wait_ns();
  }
  return sum_ns;
}

bool names_one_of(const analysis::SectionFacts& facts, const std::vector<model::LockId>& locks,
                  const std::vector<std::string>& names) {
  return std::ranges::any_of(locks, [&](model::LockId lock) {
    return std::ranges::find(names, analysis::lock_name(*facts.trace, lock)) != names.end();
  });
}

// The selected remedies alone. Of several at one site, that of the lock that is named.
base::Status keep_selected(const analysis::SectionFacts& facts, const std::vector<whatif::LockSelector>& selectors,
                           std::vector<LockRemedy>& remedies) {
  std::vector<LockRemedy> kept;
  const std::string program = whatif::program_of(*facts.trace);
  for (const whatif::LockSelector& selector : selectors) {
    if (!selector.program.empty() && !program.empty() && selector.program != program) {
      return base::Error{fmt::format(
          "the spec of {} at {} is of another program, '{}', and this is a recording of '{}'; without its \"program\" "
          "it is tried all the same",
          name_of(selector.optimisation), selector.sites[0], selector.program, program)};
    }
    const auto fits = [&](const LockRemedy& remedy) {
      return optimisation_of(remedy.kind) == selector.optimisation &&
             std::ranges::any_of(remedy.sites, [&](uint32_t site) {
               const std::string key = whatif::frame_key(*facts.trace, facts.sites.sites()[site].context);
               return std::ranges::find(selector.sites, key) != selector.sites.end();
             });
    };
    auto found = std::ranges::find_if(remedies, [&](const LockRemedy& remedy) {
      return fits(remedy) && names_one_of(facts, remedy.locks, selector.locks);
    });
    if (found == remedies.end()) found = std::ranges::find_if(remedies, fits);
    if (found == remedies.end()) {
      return base::Error{
          fmt::format("{} at {}: no such remedy in this recording", name_of(selector.optimisation), selector.sites[0])};
    }
    kept.push_back(std::move(*found));
    remedies.erase(found);
  }
  remedies = std::move(kept);
  return {};
}

// How much of the source there is to touch, as far as the kind tells.
int effort(RemedyKind kind) {
  switch (kind) {
    case RemedyKind::drop_lock:
      return 0;
    case RemedyKind::shorten_section:
      return 1;
    case RemedyKind::reader_writer_lock:
      return 2;
    case RemedyKind::split_lock:
      return 3;
    case RemedyKind::make_atomic:
      return 4;
  }
  return 5;
}

// Repeated runs of a program differ by more.
constexpr double kGainTie = 0.01;

// What the simulation may be wrong by: its error on the unchanged run, or the spread of its own runs.
double error_of(const whatif::LockEstimate& estimate, const whatif::LockBaseline& baseline) {
  return std::max(std::fabs(baseline.error), estimate.free_order_high - estimate.free_order_low);
}

// A gain may exceed the bound because threads acquire locks in another order than recorded. Orders of other locks can
// explain at most as much as threads waited for those locks. A larger excess comes from the changed lock itself: one
// thread may have acquired it many times in turn. That excess casts no doubt on the gain.
bool is_above_bound(const whatif::LockEstimate& estimate, const whatif::LockBaseline& baseline) {
  if (!estimate.simulated || !estimate.floor) return false;
  const double excess = estimate.free_order - *estimate.floor - error_of(estimate, baseline);
  return excess > kGainTie && excess <= estimate.others_waited;
}

void rank(std::vector<LockAdvice>& advices, const whatif::LockBaseline& baseline) {
  std::ranges::stable_sort(advices, [](const LockAdvice& x, const LockAdvice& y) { return x.gain() > y.gain(); });
  const auto share_lock = [](const LockAdvice& x, const LockAdvice& y) {
    return std::ranges::find_first_of(x.remedy.locks, y.remedy.locks) != x.remedy.locks.end();
  };
  for (auto place = advices.begin(); place != advices.end(); ++place) {
    auto first = place;
    for (auto other = place + 1; other != advices.end(); ++other) {
      const bool as_good = other->gain_high() + kGainTie >= place->gain_low() && other->gain() >= kLockGainMin;
      if (as_good && share_lock(*other, *place) && effort(other->remedy.kind) < effort(first->remedy.kind))
        first = other;
    }
    std::rotate(place, first, first + 1);
  }
  std::ranges::stable_partition(
      advices, [&](const auto& advice) { return gains(advice) && !is_above_bound(advice.estimate, baseline); });
  std::ranges::stable_partition(advices, gains);
}

// From the best one on, those whose locks no better one changes; or all that were asked for.
void make_together(const whatif::LockEstimator& estimator, size_t locks, bool all, LockAdvices& advices) {
  std::vector<bool> changed(locks);
  std::vector<whatif::LockImprovement> improvements;
  for (size_t i = 0; i < advices.ranked.size(); ++i) {
    const LockAdvice& advice = advices.ranked[i];
    const auto& of = advice.remedy.locks;
    const bool is_good = helps(advice, advices.baseline);
    const bool again = std::ranges::any_of(of, [&](model::LockId lock) { return changed[lock.index()]; });
    if (!all && (!is_good || again)) continue;
    for (const model::LockId lock : of) changed[lock.index()] = true;
    advices.together.push_back(i);
    improvements.push_back(advice.improvement);
  }
  const auto estimate = improvements.size() < 2 ? base::Error{"nothing to combine"} : estimator.estimate(improvements);
  if (estimate.ok()) {
    advices.together_estimate = *estimate;
  } else {
    advices.together.clear();
  }
}

}  // namespace

base::Result<LockAdvices> advise_locks(const analysis::SectionFacts& facts, const LockAdviceOptions& options) {
  analysis::LockRemedies found = analysis::lock_remedies(facts);
  if (!options.apply.empty()) {
    if (base::Status kept = keep_selected(facts, options.apply, found.remedies); !kept) return kept.error();
  }
  const whatif::LockEstimator estimator(*facts.trace, facts.sections, facts.sets, facts.recorded, facts.graph,
                                        options.estimate);
  LockAdvices advices;
  advices.baseline = estimator.baseline();
  advices.refused = std::move(found.refused);
  std::vector<std::pair<int64_t, LockRemedy>> candidates;
  for (LockRemedy& remedy : found.remedies) {
    const int64_t wait_ns = waits_ns(facts, remedy);
    candidates.emplace_back(wait_ns, std::move(remedy));
  }
  std::ranges::stable_sort(candidates, [](const auto& x, const auto& y) { return x.first > y.first; });
  if (candidates.size() > options.priced_max) {
    advices.not_priced = candidates.size() - options.priced_max;
    candidates.resize(options.priced_max);
  }
  for (size_t i = 0; i < candidates.size(); ++i) {
    LockAdvice advice{std::move(candidates[i].second)};
    advice.improvement = improvement_of(advice.remedy);
    const auto estimate = estimator.estimate({&advice.improvement, 1});
    if (estimate.ok()) {
      advice.estimate = *estimate;
      advices.ranked.push_back(std::move(advice));
    }
    if (options.progress) options.progress(i + 1, candidates.size());
  }
  rank(advices.ranked, advices.baseline);
  make_together(estimator, facts.trace->locks.size(), !options.apply.empty(), advices);
  return advices;
}

bool gains(const LockAdvice& advice) {
  return std::max({advice.estimate.free_order, advice.estimate.recorded_order, advice.estimate.floor.value_or(0)}) >=
         kLockGainMin;
}

std::string_view verdict_of(const whatif::LockEstimate& estimate, const whatif::LockBaseline& baseline) {
  if (!estimate.simulated) return "not simulated";
  if (!baseline.trusted) return "baseline off";
  if (std::fabs(estimate.free_order) < kLockGainMin) return "no gain";
  if (std::fabs(estimate.free_order) <= error_of(estimate, baseline)) return "within its error";
  if (estimate.free_order < 0) return "a loss";
  return is_above_bound(estimate, baseline) ? "above its bound" : kAGain;
}

bool helps(const LockAdvice& advice, const whatif::LockBaseline& baseline) {
  if (advice.estimate.simulated) return verdict_of(advice.estimate, baseline) == kAGain;
  return baseline.trusted && advice.gain() >= kLockGainMin;
}

std::string no_sets_reason(const model::Trace& trace) {
  if (trace.fact("agent") != "native" && trace.locks.empty()) {
    return "not a recording of a native program: only those have lock events";
  }
  if (trace.locks.empty() || !trace.access_sets.empty()) return "";
  return "the trace does not say what critical sections read and wrote; contrafact record --sets -o run.cft -- PROGRAM "
         "records them";
}

}  // namespace contrafact::cli
