#include "cli/combination.h"

#include <algorithm>

#include "whatif/search.h"

namespace contrafact::cli {
namespace {

// Positions in left_out.
std::vector<size_t> without_gain(const Advices& advices) {
  std::vector<size_t> neutral;
  for (size_t i = 0; i < advices.left_out.size(); ++i) {
    if (advices.left_out[i].failed.empty() && advices.left_out[i].filtered == kNoGain) neutral.push_back(i);
  }
  return neutral;
}

// Moves the members that are left out into the ranking. `members` count through the ranking, then through `neutral`.
std::vector<size_t> ranked_members(Advices& advices, const std::vector<size_t>& neutral,
                                   const std::vector<uint32_t>& members) {
  struct Entry {
    Advice advice;
    bool member;
  };
  std::vector<Entry> entries;
  for (Advice& advice : advices.ranked) entries.push_back({std::move(advice), false});
  std::vector<bool> taken(advices.left_out.size(), false);
  for (uint32_t member : members) {
    if (member < advices.ranked.size()) {
      entries[member].member = true;
      continue;
    }
    const size_t index = neutral[member - advices.ranked.size()];
    taken[index] = true;
    entries.push_back({std::move(advices.left_out[index]), true});
  }
  std::stable_sort(entries.begin(), entries.end(),
                   [](const Entry& a, const Entry& b) { return a.advice.score < b.advice.score; });
  std::vector<Advice> left_out;
  for (size_t i = 0; i < taken.size(); ++i) {
    if (!taken[i]) left_out.push_back(std::move(advices.left_out[i]));
  }
  advices.left_out = std::move(left_out);
  advices.ranked.clear();
  std::vector<size_t> ranks;
  for (Entry& entry : entries) {
    if (entry.member) ranks.push_back(advices.ranked.size());
    advices.ranked.push_back(std::move(entry.advice));
  }
  return ranks;
}

}  // namespace

std::vector<whatif::Improvement> improvements_of(const Advices& advices, const Combination& combination) {
  std::vector<whatif::Improvement> improvements;
  for (size_t member : combination.members) improvements.push_back(advices.ranked[member].improvement);
  return improvements;
}

base::Result<Combination> best_combination(const model::Trace& trace, const whatif::Estimator& estimator,
                                           Advices& advices, const AdviceOptions& options) {
  Combination best;
  best.estimate.figures = advices.base;
  std::vector<whatif::Improvement> improvements;
  for (const Advice& advice : advices.ranked) improvements.push_back(advice.improvement);
  const std::vector<size_t> neutral = without_gain(advices);
  for (size_t index : neutral) improvements.push_back(advices.left_out[index].improvement);
  if (improvements.empty()) return best;
  whatif::SearchOptions search_options{.weights = options.weights,
                                       .filters = options.filter_time && options.filter_peak && options.filter_mean};
  if (options.progress) search_options.progress = [&](size_t estimated) { options.progress(estimated, 0); };
  whatif::SearchResult found = whatif::search(estimator, improvements, search_options);
  best.estimated = found.estimated;
  best.exhaustive = found.exhaustive;
  if (found.best.empty() || (options.filter_gain && found.best.front().score >= 1 - kScoreTolerance)) return best;
  best.members = ranked_members(advices, neutral, found.best.front().improvements);
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
