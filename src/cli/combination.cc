#include "cli/combination.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <optional>
#include <span>
#include <string>

#include "analysis/headroom.h"
#include "cli/metric_tables.h"
#include "whatif/search.h"
#include "whatif/spec.h"

namespace contrafact::cli {
namespace {

// What is left out, but might do good in company: positions in left_out, those that only gain nothing by themselves
// first.
std::vector<size_t> estimable(const Advices& advices) {
  std::vector<size_t> others;
  for (size_t i = 0; i < advices.left_out.size(); ++i) {
    if (advices.left_out[i].failed.empty()) others.push_back(i);
  }
  std::stable_partition(others.begin(), others.end(),
                        [&](size_t index) { return advices.left_out[index].filtered == kNoGain; });
  return others;
}

size_t without_gain(const Advices& advices) {
  return static_cast<size_t>(std::count_if(advices.left_out.begin(), advices.left_out.end(), [](const Advice& advice) {
    return advice.failed.empty() && advice.filtered == kNoGain;
  }));
}

// Moves the members that are left out into the ranking. `members` count through the ranking, then through `others`.
std::vector<size_t> ranked_members(Advices& advices, const std::vector<size_t>& others,
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
    const size_t index = others[member - advices.ranked.size()];
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

namespace {

struct Sound {
  std::vector<uint32_t> members;
  whatif::Estimate estimate;
  std::optional<SimulatedEffect> simulated;
};

// What a filter held back has none yet.
void add_intervals(const whatif::Estimator& estimator, Advices& advices, const std::vector<size_t>& members) {
  for (size_t member : members) {
    Advice& advice = advices.ranked[member];
    if (advice.filtered.empty()) continue;
    base::Result<whatif::Estimate> whole = estimator.estimate(std::span(&advice.improvement, 1), {.bounded = true});
    if (whole) advice.estimate = *std::move(whole);
  }
}

// What one search has found, and by what to judge it.
struct Found {
  const model::Trace& trace;
  const whatif::Estimator& estimator;
  const whatif::Simulator* simulator;  // may be null
  const Advices& advices;
  const AdviceOptions& options;
  std::span<const whatif::Improvement> considered;
  const whatif::SearchResult& found;
};

// The combination's effect by re-dispatch; none where nothing is simulated.
std::optional<SimulatedEffect> effect_of(const Found& search, std::span<const whatif::Improvement> improvements) {
  if (!search.simulator) return std::nullopt;
  base::Result<SimulatedEffect> effect =
      simulate_effect(search.trace, *search.simulator, improvements, search.options.cores);
  if (!effect) return std::nullopt;
  return *std::move(effect);
}

// Why a combination that can be estimated is not advised; empty: it is. Where the simulated figures are to be read
// first, the real pools are in them.
std::string refusal(const Found& search, std::span<const whatif::Improvement> improvements,
                    const whatif::Estimate& estimate) {
  if (search.advices.headline.model == model::Origin::estimated) {
    if (const std::optional<analysis::OverfullPool> full = analysis::overfull_pool(search.trace, *estimate.trace)) {
      return fmt::format("it would need {} workers at once of pool {}, which has {}", full->needed,
                         pool_name(search.trace, full->pool), full->size);
    }
  }
  const base::Status applies = whatif::check_spec(search.estimator, improvements, true);
  return applies ? "" : "its spec cannot be applied: " + applies.error().message;
}

bool sound_alone(const Found& search, Advice& advice) {
  const std::span<const whatif::Improvement> alone(&advice.improvement, 1);
  base::Result<whatif::Estimate> estimate = search.estimator.estimate(alone, {.trace = true});
  advice.failed = estimate ? refusal(search, alone, *estimate) : "cannot be estimated: " + estimate.error().message;
  return advice.failed.empty();
}

// Members that cannot be estimated with their trace by themselves, or are refused by themselves, are left out from here
// on. `members` count through the ranking, then through `others`. False if there are none.
bool leave_out_failing(const Found& search, const std::vector<uint32_t>& members, const std::vector<size_t>& others,
                       Advices& advices) {
  bool any = false;
  for (uint32_t member : members) {
    if (member >= advices.ranked.size())
      any |= !sound_alone(search, advices.left_out[others[member - advices.ranked.size()]]);
  }
  std::vector<Advice> kept;
  for (size_t i = 0; i < advices.ranked.size(); ++i) {
    Advice& advice = advices.ranked[i];
    if (std::find(members.begin(), members.end(), i) != members.end() && !sound_alone(search, advice)) {
      advices.left_out.push_back(std::move(advice));
      any = true;
    } else {
      kept.push_back(std::move(advice));
    }
  }
  advices.ranked = std::move(kept);
  return any;
}

// The best of what was found, by the figures that are to be read first, that scores below `score_max`, whose estimated
// trace is sound and that is no loss when simulated. Nothing: there is none; `lost`: some are a loss; `any`: some are
// none, but not sound; `passed_over`: why the best of those is not.
std::optional<Sound> first_sound(const Found& search, double score_max, bool* lost, bool* any,
                                 std::string* passed_over) {
  const Advices& advices = search.advices;
  struct Entry {
    const whatif::Combination* combination;
    std::vector<whatif::Improvement> improvements;
    std::optional<SimulatedEffect> simulated;
    double score;
  };
  const bool decides = advices.headline.model == model::Origin::simulated;
  std::vector<Entry> entries;
  *lost = false;
  for (const whatif::Combination& candidate : search.found.best) {
    Entry entry{&candidate, {}, std::nullopt, candidate.score};
    for (uint32_t member : candidate.improvements) entry.improvements.push_back(search.considered[member]);
    if (decides) entry.simulated = effect_of(search, entry.improvements);
    if (reads_simulation(advices, entry.simulated)) {
      entry.score = whatif::score_of(figures_to_read(advices, candidate.figures, entry.simulated), advices.base,
                                     search.options.weights);
    }
    if (entry.simulated && !simulated_loss(advices, *entry.simulated, search.options).empty()) {
      *lost = true;
    } else if (entry.score < score_max) {
      entries.push_back(std::move(entry));
    }
  }
  *any = !entries.empty();
  std::ranges::stable_sort(entries, {}, &Entry::score);
  for (Entry& entry : entries) {
    base::Result<whatif::Estimate> estimate = search.estimator.estimate(entry.improvements, {.trace = true});
    const std::string refused = !estimate ? estimate.error().message : refusal(search, entry.improvements, *estimate);
    if (!refused.empty()) {
      if (passed_over->empty()) *passed_over = refused;
      continue;
    }
    if (!decides) entry.simulated = effect_of(search, entry.improvements);
    const std::vector<uint32_t>& members = entry.combination->improvements;
    Sound sound{{members.begin(), members.end()}, *std::move(estimate), std::move(entry.simulated)};
    if (!passed_over->empty()) sound.estimate.notes.push_back("a better combination is not advised: " + *passed_over);
    return sound;
  }
  return std::nullopt;
}

// What is ranked, then the `others`.
std::vector<whatif::Improvement> considered_of(const Advices& advices, const std::vector<size_t>& others) {
  std::vector<whatif::Improvement> improvements;
  for (const Advice& advice : advices.ranked) improvements.push_back(advice.improvement);
  for (size_t index : others) improvements.push_back(advices.left_out[index].improvement);
  return improvements;
}

}  // namespace

base::Result<Combination> best_combination(const model::Trace& trace, const whatif::Estimator& estimator,
                                           const whatif::Simulator* simulator, Advices& advices,
                                           const AdviceOptions& options) {
  Combination best;
  best.estimate.figures = advices.base;
  whatif::SearchOptions search_options{.weights = options.weights,
                                       .filters = options.filter_time && options.filter_peak && options.filter_mean,
                                       .filter_threads = options.threads_scarce,
                                       .slower_max = options.slower_max,
                                       .visits_max = options.visits_max,
                                       .keep = options.combinations_max};
  if (options.progress) search_options.progress = [&](size_t estimated) { options.progress(estimated, 0); };
  const double score_max = options.filter_gain ? 1 - kScoreTolerance : std::numeric_limits<double>::infinity();
  while (best.members.empty()) {
    const std::vector<size_t> others = estimable(advices);
    const std::vector<whatif::Improvement> considered = considered_of(advices, others);
    if (considered.empty()) return best;
    search_options.first_companion = advices.ranked.size() + without_gain(advices);
    const whatif::SearchResult found = whatif::search(estimator, considered, search_options);
    best.estimated += found.estimated;
    best.exhaustive = found.exhaustive;
    best.cut_short |= found.cut_short;
    search_options.visits_max -= std::min(search_options.visits_max, found.visits);
    if (found.slower) best.slower = found.slower->figures;
    if (found.slower) best.slower_members = found.slower->improvements.size();
    if (found.best.empty()) return best;
    if (advices.headline.model == model::Origin::estimated && found.best.front().score >= score_max) return best;
    bool lost = false, any = false;
    std::string passed_over;
    const Found search{trace, estimator, simulator, advices, options, considered, found};
    if (std::optional<Sound> sound = first_sound(search, score_max, &lost, &any, &passed_over)) {
      best.members = ranked_members(advices, others, sound->members);
      add_intervals(estimator, advices, best.members);
      best.estimate = std::move(sound->estimate);
      best.simulated = std::move(sound->simulated);
    } else if (!any) {
      if (lost) best.estimate.notes.push_back("every combination found makes the run slower when it is simulated");
      return best;
    } else if (!leave_out_failing(search, found.best.front().improvements, others, advices)) {
      best.estimate.notes.push_back("no combination is advised, only the improvements by themselves: " + passed_over);
      return best;
    }
  }
  best.score =
      whatif::score_of(figures_to_read(advices, best.estimate.figures, best.simulated), advices.base, options.weights);
  return best;
}

}  // namespace contrafact::cli
