#include "advise/advice.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <charconv>
#include <cmath>
#include <iterator>
#include <thread>

#include "advise/branch_hint.h"
#include "advise/grain_advice.h"
#include "advise/limits.h"
#include "advise/section_advice.h"
#include "advise/size_advice.h"
#include "advise/task_advice.h"
#include "base/parallel.h"
#include "improve/kinds/kinds.h"
#include "improve/observation.h"
#include "table/value_text.h"

namespace contrafact::advise {
namespace {

using whatif::Figures;

// Where fewer sizes are simulated because the trace is long, the number of tasks is left to `granularity`: a second
// simulation would take as much memory again.
constexpr size_t kAllSizes = 7;

// How many more threads may be occupied: none; or, where clearly less time is needed, as many as repeated runs differ
// by.
double more_threads_max(const Figures& figures, const Figures& base) {
  const bool gains =
      static_cast<double>(figures.duration_ns) <= static_cast<double>(base.duration_ns) * (1 - kTellableTime);
  return gains ? kTellableThreads : whatif::kRounding;
}

// The time for which threads are occupied, summed: a shorter run has more of them at a time for the same work.
double occupied_ns(const Figures& figures) {
  return figures.mean_occupied * static_cast<double>(figures.duration_ns);
}

std::string filter_reason(const Figures& figures, const Figures& base, const AdviceOptions& options) {
  const double more_max = more_threads_max(figures, base);
  auto above = [&](double value, double limit) { return value > limit * (1 + more_max); };
  auto slower = [&](double value, double limit, double share) {
    return options.filter_time && value > limit * (1 + share);
  };
  if (slower(static_cast<double>(figures.duration_ns), static_cast<double>(base.duration_ns),
             options.slower_max + whatif::kRounding)) {
    return fmt::format("slower: {} -> {}", table::duration_text(static_cast<double>(base.duration_ns)),
                       table::duration_text(static_cast<double>(figures.duration_ns)));
  }
  if (slower(figures.mean_response_ns, base.mean_response_ns, whatif::slower_tasks_max(options.slower_max))) {
    return fmt::format("slower tasks: {} -> {} on average from being handed out to the result",
                       table::duration_text(base.mean_response_ns), table::duration_text(figures.mean_response_ns));
  }
  if (!options.threads_scarce) return "";
  if (options.filter_peak && above(figures.peak_occupied, base.peak_occupied)) {
    return fmt::format("higher peak: {} -> {} threads", base.peak_occupied, figures.peak_occupied);
  }
  if (options.filter_mean && above(figures.mean_occupied, base.mean_occupied) &&
      above(occupied_ns(figures), occupied_ns(base))) {
    return fmt::format("higher mean: {} -> {} threads", table::number_text(base.mean_occupied),
                       table::number_text(figures.mean_occupied));
  }
  return "";
}

// Merges two lists: of the two next improvements, it takes the one that ranks before the other. Each list keeps its own
// order. That of sections is not ranks_before: of equally good changes, the one with less work comes first.
std::vector<Advice> merged(std::vector<Advice> x, std::vector<Advice> y, const Advices& advices,
                           const AdviceOptions& options) {
  std::vector<Advice> all;
  size_t next = 0;
  for (Advice& one : y) {
    while (next < x.size() && !ranks_before(advices, options, one, x[next])) all.push_back(std::move(x[next++]));
    all.push_back(std::move(one));
  }
  std::move(x.begin() + static_cast<ptrdiff_t>(next), x.end(), std::back_inserter(all));
  return all;
}

// A change of sections or sizes is ranked only if its gain is greater than all doubt about it.
void judge_simulated(std::vector<Advice>& advices, const Advices& all, const AdviceOptions& options) {
  for (Advice& advice : advices) {
    judge(advice, all, options);
    if (options.filter_gain && advice.verdict != Verdict::gain && advice.filtered.empty())
      advice.filtered = name_of(advice.verdict);
  }
}

// Adds those that are neither filtered nor failed to the ranking, in their order, the others to left_out.
void rank_into(std::vector<Advice> considered, Advices& advices, const AdviceOptions& options) {
  std::vector<Advice> ranked;
  for (Advice& advice : considered) {
    const bool kept = advice.failed.empty() && advice.filtered.empty();
    (kept ? ranked : advices.left_out).push_back(std::move(advice));
  }
  advices.ranked = merged(std::move(advices.ranked), std::move(ranked), advices, options);
}

// How many hundredths of the run are gained; 0 where it is not more than repeated runs differ by.
int64_t gain_step(const Advices& advices, const Advice& advice) {
  const double share = gain_to_read(advices, advice.effect).share;
  return share < kTellableTime ? 0 : std::llround(share / kGainTie);
}

// The figures of the recorded run where those of tasks are not known.
Figures duration_only(const model::Trace& trace) {
  Figures figures;
  figures.duration_ns = trace.end_ns() - trace.begin_ns();
  return figures;
}

}  // namespace

void for_each_index(size_t count, const std::function<void(size_t done, size_t total)>& progress,
                    const std::function<void(size_t index)>& work) {
  constexpr unsigned kThreadsMax = 8;  // each has the memory of a propagation or a simulation
  std::atomic<size_t> next{0}, done{0};
  auto loop = [&](bool reports) {
    for (size_t i = next++; i < count; i = next++) {
      work(i);
      ++done;
      if (reports && progress) progress(done, count);
    }
  };
  base::on_threads(std::min<size_t>({kThreadsMax, std::thread::hardware_concurrency(), count}),
                   [&](size_t number) { loop(number == 0); });
}

base::Result<Weights> parse_weights(const std::string& text) {
  Weights weights{0, 0, 0};
  std::string_view rest = text;
  while (!rest.empty()) {
    std::string_view item = rest.substr(0, rest.find(','));
    rest.remove_prefix(std::min(rest.size(), item.size() + 1));
    size_t equals = item.find('=');
    std::string_view name = item.substr(0, equals);
    double* target = name == "time"   ? &weights.duration
                     : name == "peak" ? &weights.peak
                     : name == "mean" ? &weights.mean
                                      : nullptr;
    if (target == nullptr || equals == std::string_view::npos) {
      return base::Error{fmt::format("weights: '{}' is none of time=, peak=, mean= with a number", item)};
    }
    std::string_view number = item.substr(equals + 1);
    auto [end, failed] = std::from_chars(number.data(), number.data() + number.size(), *target);
    if (failed != std::errc() || end != number.data() + number.size() || !(*target >= 0) || !std::isfinite(*target)) {
      return base::Error{fmt::format("weights: '{}' is no number of at least 0", item)};
    }
  }
  if (weights.duration + weights.peak + weights.mean <= 0) {
    return base::Error{"weights: at least one of time, peak and mean must be above 0"};
  }
  return weights;
}

bool reads_simulation(const Advices& advices, const Effect& effect) {
  if (!advices.baseline || !ends_simulated(effect)) return false;
  return !effect.estimated || effect.partly_estimated || advices.headline.model == model::Origin::simulated;
}

// The interval is that of the hand-overs alone.
static Gain estimated_gain(const Advices& advices, const Effect& effect) {
  const auto base_ns = static_cast<double>(advices.base.duration_ns);
  const auto share = [&](int64_t after_ns) { return gain(base_ns, static_cast<double>(after_ns)); };
  const auto [low, high] =
      std::minmax({share(effect.estimate.duration_low_ns), share(effect.estimate.duration_high_ns)});
  return {share(effect.estimate.figures.duration_ns), low, high, model::Origin::estimated};
}

Gain gain_to_read(const Advices& advices, const Effect& effect) {
  if (effect.over) return effect.over->gain;
  if (reads_simulation(advices, effect)) return gain_of(*advices.baseline, *effect.simulated);
  if (!effect.estimated) return section_gain(effect);
  Gain gain = estimated_gain(advices, effect);
  const double off = usual_error(gain.share);
  gain.low = std::min(gain.low, gain.share - off);
  gain.high = std::max(gain.high, std::min(1.0, gain.share + off));
  return gain;
}

Figures figures_to_read(const Advices& advices, const Effect& effect) {
  Figures figures = effect.estimated ? effect.estimate.figures : advices.base;
  if (effect.estimated && !effect.over && !reads_simulation(advices, effect)) return figures;
  const double share = 1 - gain_to_read(advices, effect).share;
  figures.duration_ns = std::llround(share * static_cast<double>(advices.base.duration_ns));
  return figures;
}

std::string simulated_loss(const Advices& advices, const Effect& effect, const AdviceOptions& options) {
  if (!options.filter_time || !reads_simulation(advices, effect)) return "";
  const Gain gain = gain_to_read(advices, effect);
  const double share = gain.share;
  if (share >= -(options.slower_max + whatif::kRounding)) return "";
  // A small loss that may as well be a gain does not count: the run takes as long as before.
  if (share > -kTellableTime && verdict_of(gain) != Verdict::loss) return "";
  const auto base_ns = static_cast<double>(advices.baseline->simulated_ns);
  const std::string before = table::duration_text(base_ns), after = table::duration_text(base_ns * (1 - share));
  if (before == after) return fmt::format("slower when simulated: by {}", table::percent_text(-share));
  return fmt::format("slower when simulated: {} -> {}", before, after);
}

Verdict verdict_to_read(const Advices& advices, const Effect& effect) {
  if (effect.over)
    return verdict_of(effect.over->gain, !reads_simulation(advices, effect) || advices.baseline->trusted);
  const bool reads_estimate = effect.estimated && !reads_simulation(advices, effect);
  return reads_estimate ? verdict_of(gain_to_read(advices, effect)) : verdict_of(effect, advices.baseline);
}

// Improvements that gain and were observed well come first, then those that gain and were not, then those that gain
// nothing.
static int foundation_rank(const Advices& advices, const AdviceOptions& options, const Advice& advice) {
  const Weights& weights = options.weights;
  const bool by_time = weights.duration >= std::max(weights.peak, weights.mean);
  const bool gains = by_time ? gain_step(advices, advice) > 0 : advice.score < 1 - kScoreTolerance;
  const bool supposes_much = advice.improvement().optimisation == improve::kinds::split_tasks;
  return !gains ? 2 : improve::is_little_observed(advice.candidate) || supposes_much ? 1 : 0;
}

bool ranks_before(const Advices& advices, const AdviceOptions& options, const Advice& x, const Advice& y) {
  const int rank_x = foundation_rank(advices, options, x), rank_y = foundation_rank(advices, options, y);
  if (rank_x != rank_y) return rank_x < rank_y;
  const Weights& weights = options.weights;
  if (weights.duration >= std::max(weights.peak, weights.mean)) {
    const int64_t of_x = gain_step(advices, x), of_y = gain_step(advices, y);
    if (of_x != of_y) return of_x > of_y;
  }
  return x.score < y.score;
}

void judge(Advice& advice, const Advices& advices, const AdviceOptions& options) {
  const Figures figures = figures_to_read(advices, advice.effect);
  advice.filtered = simulated_loss(advices, advice.effect, options);
  advice.score = whatif::score_of(figures, advices.base, options.weights);
  if (advice.filtered.empty()) advice.filtered = filter_reason(figures, advices.base, options);
  if (options.filter_gain && advice.filtered.empty() && advice.score >= 1 - kScoreTolerance) advice.filtered = kNoGain;
  advice.verdict = verdict_to_read(advices, advice.effect);
}

base::Result<Effect> effect_of(const Engines& engines, std::span<const whatif::Improvement> improvements,
                               bool with_trace) {
  const auto changes = [](whatif::Target target) {
    return [target](const whatif::Improvement& improvement) {
      return whatif::target_of(improvement.optimisation) == target;
    };
  };
  Effect effect;
  std::vector<whatif::Improvement> tasks;
  std::ranges::copy_if(improvements, std::back_inserter(tasks), changes(whatif::Target::tasks));
  if (!tasks.empty() || (improvements.empty() && engines.estimator != nullptr)) {
    if (engines.estimator == nullptr) return base::Error{"this recording has no tasks that can be changed"};
    base::Result<whatif::Estimate> estimate =
        engines.estimator->estimate(tasks, {.trace = with_trace && tasks.size() == improvements.size()});
    if (!estimate) return estimate.error();
    effect.estimate = *std::move(estimate);
    effect.estimated = true;
    effect.partly_estimated = tasks.size() < improvements.size();
  } else if (engines.estimator != nullptr) {
    effect.estimate.figures = engines.estimator->base();
  }
  const Pricer& pricer = engines.pricer;
  if (std::ranges::any_of(improvements, changes(whatif::Target::sections)) && pricer.sections() != nullptr) {
    base::Result<whatif::SectionGains> gains = pricer.section_gains(improvements);
    if (!gains) return gains.error();
    effect.sections = *std::move(gains);
  }
  if (!pricer.simulates()) {
    if (!effect.estimated && !effect.sections) return base::Error{"only a simulation knows this change"};
    return effect;
  }
  base::Result<SimulatedEffect> simulated = pricer.simulate(improvements);
  if (!simulated) return simulated.error();
  effect.simulated = *std::move(simulated);
  return effect;
}

base::Result<Advices> advise(const Engines& engines, const improve::Candidates& tasks, const AdviceOptions& options) {
  const Pricer& pricer = engines.pricer;
  Advices advices{.base = engines.estimator ? engines.estimator->base() : duration_only(pricer.trace()),
                  .baseline = pricer.baseline(),
                  .ineligible = tasks.ineligible,
                  .candidates = tasks.candidates.size(),
                  .branch_hint = branch_hint(pricer.trace(), tasks)};
  const analysis::ThreadUsage usage = usage_of(pricer.facts());
  const Shortage shortage = shortage_of(pricer, usage);
  advices.headline = headline_of(pricer, shortage);
  const auto sort = [&](std::vector<Advice>& list) {
    std::ranges::stable_sort(list,
                             [&](const Advice& x, const Advice& y) { return ranks_before(advices, options, x, y); });
  };
  if (engines.estimator) {
    std::vector<Advice> considered = advise_tasks(engines, tasks, advices, options);
    sort(considered);
    rank_into(std::move(considered), advices, options);
  }
  if (pricer.sections() && pricer.simulates()) {
    SectionAdvices sections = advise_sections(pricer, {.apply = {}, .progress = options.progress});
    judge_simulated(sections.ranked, advices, options);
    advices.candidates += sections.ranked.size();
    std::ranges::move(sections.ineligible, std::back_inserter(advices.ineligible));
    rank_into(std::move(sections.ranked), advices, options);
  }
  SizeAdvices sizes;
  if (pricer.simulates()) {
    sizes = advise_sizes(pricer, shortage, options.sizes_max);
    judge_simulated(sizes.advices, advices, options);
    sort(sizes.advices);
    rank_into(std::move(sizes.advices), advices, options);
  }
  if (pricer.simulates() && options.sizes_max >= kAllSizes && any_grain_promises(pricer.facts())) {
    const Pricer lean(pricer.facts(), nullptr,
                      {.cores = pricer.cores(), .left_out = left_out_for_grains(pricer.trace())});
    std::vector<Advice> grains = grain_advices(lean, grain_curves(lean, {.classes_max = 3,
                                                                         .points_max = 8,
                                                                         .share_min = kTellableTime,
                                                                         .only_promising = true,
                                                                         .progress = options.progress}));
    judge_simulated(grains, advices, options);
    sort(grains);
    advices.candidates += grains.size();
    rank_into(std::move(grains), advices, options);
  }
  advices.limit = limit_of(pricer, usage, shortage, sizes.useless);
  return advices;
}

}  // namespace contrafact::advise
