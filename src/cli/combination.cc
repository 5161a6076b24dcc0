#include "cli/combination.h"

#include "whatif/search.h"

namespace contrafact::cli {

std::vector<whatif::Improvement> improvements_of(const Advices& advices, const Combination& combination) {
  std::vector<whatif::Improvement> improvements;
  for (size_t member : combination.members) improvements.push_back(advices.ranked[member].improvement);
  return improvements;
}

base::Result<Combination> best_combination(const model::Trace& trace, const whatif::Estimator& estimator,
                                           const Advices& advices, const AdviceOptions& options) {
  Combination best;
  best.estimate.figures = advices.base;
  if (advices.ranked.empty()) return best;
  std::vector<whatif::Improvement> improvements;
  for (const Advice& advice : advices.ranked) improvements.push_back(advice.improvement);
  whatif::SearchOptions search_options{.weights = options.weights,
                                       .filters = options.filter_time && options.filter_peak && options.filter_mean};
  if (options.progress) search_options.progress = [&](size_t estimated) { options.progress(estimated, 0); };
  whatif::SearchResult found = whatif::search(estimator, improvements, search_options);
  best.estimated = found.estimated;
  best.exhaustive = found.exhaustive;
  if (found.best.empty()) return best;
  for (uint32_t member : found.best.front().improvements) best.members.push_back(member);
  std::vector<whatif::Improvement> members = improvements_of(advices, best);
  base::Result<whatif::Estimate> estimate = estimator.estimate(members, {.trace = true});
  if (!estimate) return estimate.error();
  best.estimate = *std::move(estimate);
  best.score = whatif::score_of(best.estimate.figures, advices.base, options.weights);
  if (options.models == Models::fixed) return best;
  base::Result<SimulatedEffect> effect = simulate_effect(trace, members, options.cores);
  if (effect) best.simulated = *std::move(effect);
  return best;
}

}  // namespace contrafact::cli
