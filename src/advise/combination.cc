#include "advise/combination.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>
#include <optional>
#include <span>
#include <string>

#include "analysis/headroom.h"
#include "analysis/places.h"
#include "improve/kinds/kinds.h"
#include "improve/spec.h"
#include "whatif/search.h"

namespace contrafact::advise {
namespace {

// Positions in left_out of improvements that may gain together with others; first those that only gain nothing by
// themselves.
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

// Moves the members that are left out into the ranking. `members` number the ranking first, and then `others`.
std::vector<size_t> ranked_members(Advices& advices, const AdviceOptions& options, const std::vector<size_t>& others,
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
  std::ranges::stable_sort(
      entries, [&](const Entry& a, const Entry& b) { return ranks_before(advices, options, a.advice, b.advice); });
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
  for (size_t member : combination.members) improvements.push_back(advices.ranked[member].improvement());
  return improvements;
}

namespace {

struct Sound {
  std::vector<uint32_t> members;
  Effect effect;
};

// What a filter held back has none yet.
void add_intervals(const whatif::Estimator& estimator, Advices& advices, const std::vector<size_t>& members) {
  for (size_t member : members) {
    Advice& advice = advices.ranked[member];
    if (advice.filtered.empty()) continue;
    const whatif::Figures known = advice.effect.estimate.figures;
    base::Result<whatif::Estimate> whole =
        estimator.estimate(std::span(&advice.improvement(), 1), {.known = &known, .bounded = true});
    if (whole) advice.effect.estimate = *std::move(whole);
    advice.verdict = verdict_to_read(advices, advice.effect);
  }
}

// What one search has found, and by what to judge it.
struct Found {
  const Engines& engines;
  const Advices& advices;
  const AdviceOptions& options;
  std::span<const improve::Candidate> considered;
  const whatif::SearchResult& found;
};

std::vector<improve::Candidate> picked(const Found& search, const whatif::Combination& combination) {
  std::vector<improve::Candidate> candidates;
  for (const uint32_t member : combination.improvements) candidates.push_back(search.considered[member]);
  return candidates;
}

std::vector<whatif::Improvement> changes_of(std::span<const improve::Candidate> candidates) {
  std::vector<whatif::Improvement> improvements;
  for (const improve::Candidate& candidate : candidates) improvements.push_back(candidate.improvement);
  return improvements;
}

// By re-dispatch; none where nothing is simulated.
std::optional<SimulatedEffect> simulated(const Found& search, std::span<const improve::Candidate> candidates) {
  if (!search.engines.pricer.simulates()) return std::nullopt;
  base::Result<SimulatedEffect> effect = search.engines.pricer.simulate(changes_of(candidates));
  if (!effect) return std::nullopt;
  return *std::move(effect);
}

bool needs_trace(const Found& search) {
  return search.advices.headline.model == model::Origin::estimated;
}

// Why a combination that can be estimated is not advised; empty: it is advised. Simulated figures, where these are to
// be read first, account for the real pools.
std::string refusal(const Found& search, std::span<const improve::Candidate> candidates,
                    const whatif::Estimate& estimate) {
  const model::Trace& trace = search.engines.pricer.trace();
  if (needs_trace(search)) {
    if (const std::optional<analysis::OverfullPool> full =
            analysis::overfull_pool(search.engines.pricer.facts(), *estimate.trace)) {
      return fmt::format("it would need {} workers at once of pool {}, which has {}", full->needed,
                         analysis::pool_name(trace, full->pool), full->size);
    }
  }
  const base::Status applies = improve::check_task_specs(*search.engines.estimator, candidates, true);
  return applies ? "" : "its spec cannot be applied: " + applies.error().message;
}

bool sound_alone(const Found& search, Advice& advice) {
  const std::span<const improve::Candidate> alone(&advice.candidate, 1);
  const whatif::Figures known = advice.effect.estimate.figures;
  base::Result<whatif::Estimate> estimate = search.engines.estimator->estimate(
      std::span(&advice.improvement(), 1),
      {.trace = search.options.restore_best || needs_trace(search), .interval = false, .known = &known});
  advice.failed = estimate ? refusal(search, alone, *estimate) : "cannot be estimated: " + estimate.error().message;
  return advice.failed.empty();
}

// Members that cannot be estimated with their trace by themselves, or are refused by themselves, are left out from here
// on. `members` number the ranking first, and then `others`. False if there are none.
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

// One of the combinations that were found.
struct Entry {
  const whatif::Combination* combination;
  std::vector<improve::Candidate> candidates;
  Effect effect;
  double score = 1;
};

std::vector<Entry> entries_of(const Found& search) {
  std::vector<Entry> all;
  for (const whatif::Combination& combination : search.found.best) {
    Entry& entry = all.emplace_back(&combination, picked(search, combination), Effect{.estimated = true});
    entry.score = combination.score;
    entry.effect.estimate.figures = combination.figures;
  }
  return all;
}

// Sets the score by the figures that are to be read first. True: the entry is a loss when simulated.
bool judge_entry(const Found& search, Entry& entry) {
  const Advices& advices = search.advices;
  if (reads_simulation(advices, entry.effect)) {
    entry.score = whatif::score_of(figures_to_read(advices, entry.effect), advices.base, search.options.weights);
  }
  return !simulated_loss(advices, entry.effect, search.options).empty();
}

// Simulates all entries; where only few may be, as for a long trace, one after the other up to the first that is good
// enough.
void simulate_entries(const Found& search, double score_max, std::vector<Entry>& all) {
  constexpr size_t kFew = 3;
  if (search.options.combinations_max > kFew) {
    return for_each_index(all.size(), search.options.progress,
                          [&](size_t i) { all[i].effect.simulated = simulated(search, all[i].candidates); });
  }
  for (size_t i = 0; i < all.size(); ++i) {
    all[i].effect.simulated = simulated(search, all[i].candidates);
    if (judge_entry(search, all[i]) || all[i].score >= score_max) continue;
    all.erase(all.begin() + static_cast<ptrdiff_t>(i) + 1, all.end());
    return;
  }
}

// By score; but of the entries about as good as the best, the one with the fewest members comes first.
void sort_by_worth(std::vector<Entry>& entries) {
  std::ranges::stable_sort(entries, {}, &Entry::score);
  if (entries.empty()) return;
  const auto worse = std::ranges::find_if(
      entries, [&](const Entry& entry) { return entry.score > entries.front().score + kScoreTolerance; });
  const auto leanest = std::ranges::min_element(
      entries.begin(), worse, {}, [](const Entry& entry) { return entry.combination->improvements.size(); });
  std::rotate(entries.begin(), leanest, std::next(leanest));
}

// The best combination found, by the figures that are to be read first, that scores below `score_max`, has a sound
// estimated trace, and is no loss when simulated. Nothing: there is none. Then `lost`: some are a loss; `any`: some are
// no loss, but not sound; `passed_over`: why the best of these is not sound.
std::optional<Sound> first_sound(const Found& search, double score_max, bool* lost, bool* any,
                                 std::string* passed_over) {
  const bool decides = search.advices.headline.model == model::Origin::simulated;
  std::vector<Entry> all = entries_of(search), entries;
  if (decides) simulate_entries(search, score_max, all);
  *lost = false;
  for (Entry& entry : all) {
    if (judge_entry(search, entry)) {
      *lost = true;
    } else if (entry.score < score_max) {
      entries.push_back(std::move(entry));
    }
  }
  *any = !entries.empty();
  sort_by_worth(entries);
  for (Entry& entry : entries) {
    const whatif::Figures known = entry.effect.estimate.figures;
    base::Result<whatif::Estimate> estimate = search.engines.estimator->estimate(
        changes_of(entry.candidates), {.trace = search.options.restore_best || needs_trace(search), .known = &known});
    const std::string refused = !estimate ? estimate.error().message : refusal(search, entry.candidates, *estimate);
    if (!refused.empty()) {
      if (passed_over->empty()) *passed_over = refused;
      continue;
    }
    if (!decides) entry.effect.simulated = simulated(search, entry.candidates);
    entry.effect.estimate = *std::move(estimate);
    if (!passed_over->empty())
      entry.effect.estimate.notes.push_back("a better combination is not advised: " + *passed_over);
    const std::vector<uint32_t>& members = entry.combination->improvements;
    return Sound{{members.begin(), members.end()}, std::move(entry.effect)};
  }
  return std::nullopt;
}

// What is ranked, then the `others`.
std::vector<improve::Candidate> considered_of(const Advices& advices, const std::vector<size_t>& others) {
  std::vector<improve::Candidate> candidates;
  for (const Advice& advice : advices.ranked) candidates.push_back(advice.candidate);
  for (size_t index : others) candidates.push_back(advices.left_out[index].candidate);
  return candidates;
}

// Among what was estimated by itself already.
whatif::SearchResult search_among(const Advices& advices, const std::vector<size_t>& others,
                                  const std::vector<improve::Candidate>& considered,
                                  const whatif::SearchOptions& options) {
  const ScreenedTasks& screened = *advices.screened;
  std::vector<uint32_t> rows;
  for (const Advice& advice : advices.ranked) rows.push_back(advice.screened);
  for (const size_t index : others) rows.push_back(advices.left_out[index].screened);
  whatif::KnownFigures known;
  for (const uint32_t row : rows) known.singles.push_back(*screened.found.figures[row]);
  known.visits_each = screened.found.visits / std::max<size_t>(1, screened.improvements.size());
  return whatif::search(screened.batch.part(rows), changes_of(considered), known, options);
}

// Of improvements of tasks: the only ones in `advices`.
Combination best_of_tasks(const Engines& engines, Advices& advices, const AdviceOptions& options) {
  Combination best;
  whatif::SearchOptions search_options{.weights = options.weights,
                                       .filters = options.filter_time && options.filter_peak && options.filter_mean,
                                       .filter_threads = options.threads_scarce,
                                       .slower_max = options.slower_max,
                                       .visits_max = options.visits_max,
                                       .keep = options.combinations_max};
  if (options.progress) search_options.progress = [&](size_t estimated) { options.progress(estimated, 0); };
  const double score_max = options.filter_gain ? 1 - kScoreTolerance : std::numeric_limits<double>::infinity();
  std::vector<std::string>& notes = best.effect.estimate.notes;
  while (best.members.empty()) {
    const std::vector<size_t> others = estimable(advices);
    const std::vector<improve::Candidate> considered = considered_of(advices, others);
    if (considered.empty()) return best;
    search_options.first_companion = advices.ranked.size() + without_gain(advices);
    const whatif::SearchResult found = search_among(advices, others, considered, search_options);
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
    const Found search{engines, advices, options, considered, found};
    if (std::optional<Sound> sound = first_sound(search, score_max, &lost, &any, &passed_over)) {
      best.members = ranked_members(advices, options, others, sound->members);
      add_intervals(*engines.estimator, advices, best.members);
      best.effect = std::move(sound->effect);
    } else if (!any) {
      if (lost) notes.push_back("every combination found makes the run slower when it is simulated");
      return best;
    } else if (!leave_out_failing(search, found.best.front().improvements, others, advices)) {
      notes.push_back("no combination is advised, only the improvements by themselves: " + passed_over);
      return best;
    }
  }
  return best;
}

// Whether a spec of it can be applied. REQUIRES: it changes tasks.
bool applies(const Engines& engines, const Advice& advice) {
  return improve::check_task_specs(*engines.estimator, std::span(&advice.candidate, 1)).ok();
}

// The search knows estimates only. If it finds nothing, or less than the improvement that gains most when simulated,
// that improvement alone is the best.
void take_best_simulated(const Engines& engines, const Advices& advices, const AdviceOptions& options,
                         Combination& best) {
  if (best.members.empty()) best.effect.estimate.figures = advices.base;
  if (advices.ranked.empty() || !reads_simulation(advices, advices.ranked.front().effect)) return;
  if (advices.ranked.front().verdict != Verdict::gain) return;
  const Advice& first = advices.ranked.front();
  const double score = whatif::score_of(figures_to_read(advices, best.effect), advices.base, options.weights);
  if (!best.members.empty() && first.score > score - kScoreTolerance) return;
  if (first.target() == whatif::Target::tasks && !applies(engines, first)) return;
  std::vector<std::string> notes = std::move(best.effect.estimate.notes);
  best.members = {0};
  best.effect = first.effect;
  std::ranges::move(notes, std::back_inserter(best.effect.estimate.notes));
}

// Whether two improvements change one lock or one pool.
bool share_target(const improve::Candidate& x, const improve::Candidate& y) {
  const auto is_of_pool = [](const improve::Candidate& candidate) {
    return target_of(candidate.improvement.optimisation) == whatif::Target::pool;
  };
  if (is_of_pool(x) && is_of_pool(y)) return x.improvement.pool == y.improvement.pool;
  return std::ranges::find_first_of(x.locks, y.locks) != x.locks.end();
}

// Whether its tasks can be divided evenly at all, no recording says: such advice stands by itself.
bool supposes_much(const Advice& advice) {
  return advice.improvement().optimisation == improve::kinds::split_tasks;
}

// A member must add at least this much to the gain of the others together.
constexpr double kAddedMin = kGainTie / 2;

// Estimates the members that change tasks, for their use of threads.
void estimate_tasks(const Engines& engines, const Advices& advices, Combination& best) {
  std::vector<whatif::Improvement> tasks;
  for (const size_t member : best.members) {
    if (advices.ranked[member].target() == whatif::Target::tasks) tasks.push_back(advices.ranked[member].improvement());
  }
  best.effect.estimated = false;
  best.effect.estimate = {};
  best.effect.estimate.figures = advices.base;
  if (tasks.empty()) return;
  base::Result<whatif::Estimate> estimate = engines.estimator->estimate(tasks, {.bounded = true});
  if (!estimate) return;
  best.effect.estimate = *std::move(estimate);
  best.effect.estimated = true;
  best.effect.partly_estimated = tasks.size() < best.members.size();
}

double simulated_gain(const Combination& combination) {
  return ends_simulated(combination.effect) ? combination.effect.simulated->gain : 0;
}

// The worth of a combination: the share of the run's time that its simulation gains; where the user gave weights, its
// gain by these.
double worth(const Engines& engines, const Advices& advices, const AdviceOptions& options,
             const Combination& combination) {
  const double gained = simulated_gain(combination);
  if (!options.weights_given) return gained;
  Combination weighed = combination;
  estimate_tasks(engines, advices, weighed);
  whatif::Figures figures = weighed.effect.estimate.figures;
  figures.duration_ns = std::llround((1 - gained) * static_cast<double>(advices.base.duration_ns));
  return 1 - whatif::score_of(figures, advices.base, options.weights);
}

// Adds, in the order of the ranking, each improvement with which the combination is worth more. More cores are no
// change of the program.
void grow(const Engines& engines, const Advices& advices, const AdviceOptions& options, bool tasks_too,
          Combination& best) {
  double worth_before = worth(engines, advices, options, best);
  std::vector<whatif::Improvement> members = improvements_of(advices, best);
  for (size_t i = 0; i < advices.ranked.size(); ++i) {
    const Advice& advice = advices.ranked[i];
    if (advice.target() == whatif::Target::machine || supposes_much(advice) ||
        (advice.target() == whatif::Target::tasks && !tasks_too))
      continue;
    const bool again = std::ranges::any_of(best.members, [&](size_t member) {
      return member == i || share_target(advices.ranked[member].candidate, advice.candidate);
    });
    if (again || !ends_simulated(advice.effect)) continue;
    if (advice.target() == whatif::Target::tasks && !applies(engines, advice)) continue;
    members.push_back(advice.improvement());
    base::Result<SimulatedEffect> effect = engines.pricer.simulate(members);
    Combination grown{.members = best.members};
    grown.members.push_back(i);
    const bool ends = effect.ok() && !effect->stuck;
    if (ends) grown.effect.simulated = *std::move(effect);
    const double worth_after = ends ? worth(engines, advices, options, grown) : 0;
    if (!ends || worth_after < worth_before + kAddedMin) {
      members.pop_back();
      continue;
    }
    best.effect.simulated = std::move(grown.effect.simulated);
    best.members = std::move(grown.members);
    worth_before = worth_after;
  }
}

// Other kinds than tasks join the best combination of tasks; or, if that is worth more, tasks join the best of the
// other kinds.
void add_other_kinds(const Engines& engines, const Advices& advices, const AdviceOptions& options, Combination& best) {
  const auto is_other = [](const Advice& advice) {
    return advice.target() != whatif::Target::tasks && advice.target() != whatif::Target::machine &&
           !supposes_much(advice);
  };
  const auto first = std::ranges::find_if(advices.ranked, is_other);
  if (first == advices.ranked.end()) return;
  Combination other;
  other.members = {static_cast<size_t>(first - advices.ranked.begin())};
  other.effect = first->effect;
  grow(engines, advices, options, true, other);
  const size_t of_tasks = best.members.size();
  grow(engines, advices, options, false, best);
  const bool takes_other = worth(engines, advices, options, other) > worth(engines, advices, options, best) + kGainTie;
  if (!takes_other && best.members.size() == of_tasks) return;
  if (takes_other) {
    best.members = std::move(other.members);
    best.effect = std::move(other.effect);
  }
  std::ranges::sort(best.members);
  estimate_tasks(engines, advices, best);
  const bool any_section = std::ranges::any_of(
      best.members, [&](size_t member) { return advices.ranked[member].target() == whatif::Target::sections; });
  if (!any_section) return;
  const base::Result<whatif::SectionGains> gains = engines.pricer.section_gains(improvements_of(advices, best));
  if (gains) best.effect.sections = *gains;
}

// Takes what does not change tasks out of a list.
std::vector<Advice> take_others(std::vector<Advice>& advices) {
  const auto others = std::ranges::stable_partition(
      advices, [](const Advice& advice) { return advice.target() == whatif::Target::tasks; });
  std::vector<Advice> taken(std::make_move_iterator(others.begin()), std::make_move_iterator(others.end()));
  advices.erase(others.begin(), others.end());
  return taken;
}

// Puts `others` back where they rank; numbers the members anew.
void put_back(std::vector<Advice> others, Advices& advices, const AdviceOptions& options, Combination& best) {
  std::vector<Advice> all;
  std::vector<size_t> members;
  size_t other = 0;
  for (size_t i = 0; i < advices.ranked.size(); ++i) {
    while (other < others.size() && ranks_before(advices, options, others[other], advices.ranked[i]))
      all.push_back(std::move(others[other++]));
    if (std::ranges::find(best.members, i) != best.members.end()) members.push_back(all.size());
    all.push_back(std::move(advices.ranked[i]));
  }
  while (other < others.size()) all.push_back(std::move(others[other++]));
  advices.ranked = std::move(all);
  best.members = std::move(members);
}

}  // namespace

base::Result<Combination> best_combination(const Engines& engines, Advices& advices, const AdviceOptions& options) {
  std::vector<Advice> others = take_others(advices.ranked), left_out = take_others(advices.left_out);
  Combination best;
  if (engines.estimator) best = best_of_tasks(engines, advices, options);
  take_best_simulated(engines, advices, options, best);
  put_back(std::move(others), advices, options, best);
  std::ranges::move(left_out, std::back_inserter(advices.left_out));
  if (engines.pricer.simulates()) add_other_kinds(engines, advices, options, best);
  best.score = whatif::score_of(figures_to_read(advices, best.effect), advices.base, options.weights);
  return best;
}

}  // namespace contrafact::advise
