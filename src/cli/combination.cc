#include "cli/combination.h"

#include <algorithm>

#include "whatif/search.h"

namespace contrafact::cli {

std::vector<whatif::Improvement> improvements_of(const Advices& advices, const Combination& combination) {
  std::vector<whatif::Improvement> improvements;
  for (size_t member : combination.members) improvements.push_back(advices.ranked[member].improvement);
  return improvements;
}

namespace {

// Members that cannot be estimated with their trace by themselves leave the ranking. False if there are none.
bool leave_out_failing(const whatif::Estimator& estimator, const std::vector<uint32_t>& members, Advices& advices) {
  std::vector<Advice> kept;
  bool any = false;
  for (size_t i = 0; i < advices.ranked.size(); ++i) {
    Advice& advice = advices.ranked[i];
    if (std::find(members.begin(), members.end(), i) != members.end()) {
      base::Result<whatif::Estimate> estimate = estimator.estimate(std::span(&advice.improvement, 1), {.trace = true});
      if (!estimate) {
        advice.failed = estimate.error().message;
        advices.left_out.push_back(std::move(advice));
        any = true;
        continue;
      }
    }
    kept.push_back(std::move(advice));
  }
  advices.ranked = std::move(kept);
  return any;
}

// The best of `found` whose estimated trace is sound. Nothing: there is none.
std::optional<Combination> first_sound(const whatif::Estimator& estimator, const Advices& advices,
                                       const whatif::SearchResult& found) {
  std::string passed_over;
  for (const whatif::Combination& candidate : found.best) {
    Combination combination;
    combination.members.assign(candidate.improvements.begin(), candidate.improvements.end());
    base::Result<whatif::Estimate> estimate =
        estimator.estimate(improvements_of(advices, combination), {.trace = true});
    if (!estimate) {
      if (passed_over.empty()) passed_over = estimate.error().message;
      continue;
    }
    combination.estimate = *std::move(estimate);
    if (!passed_over.empty())
      combination.estimate.notes.push_back("a better combination could not be estimated: " + passed_over);
    return combination;
  }
  return std::nullopt;
}

}  // namespace

base::Result<Combination> best_combination(const model::Trace& trace, const whatif::Estimator& estimator,
                                           Advices& advices, const AdviceOptions& options) {
  Combination best;
  best.estimate.figures = advices.base;
  whatif::SearchOptions search_options{.weights = options.weights,
                                       .filters = options.filter_time && options.filter_peak && options.filter_mean};
  if (options.progress) search_options.progress = [&](size_t estimated) { options.progress(estimated, 0); };
  while (!advices.ranked.empty()) {
    std::vector<whatif::Improvement> improvements;
    for (const Advice& advice : advices.ranked) improvements.push_back(advice.improvement);
    const whatif::SearchResult found = whatif::search(estimator, improvements, search_options);
    best.estimated += found.estimated;
    best.exhaustive = found.exhaustive;
    if (found.best.empty()) return best;
    if (std::optional<Combination> sound = first_sound(estimator, advices, found)) {
      best.members = std::move(sound->members);
      best.estimate = std::move(sound->estimate);
      break;
    }
    if (!leave_out_failing(estimator, found.best.front().improvements, advices)) {
      best.estimate.notes.push_back("no combination could be estimated, only the improvements by themselves");
      return best;
    }
  }
  if (best.members.empty()) return best;
  best.score = whatif::score_of(best.estimate.figures, advices.base, options.weights);
  if (options.models == Models::fixed) return best;
  base::Result<SimulatedEffect> effect = simulate_effect(trace, improvements_of(advices, best), options.cores);
  if (effect) best.simulated = *std::move(effect);
  return best;
}

}  // namespace contrafact::cli
