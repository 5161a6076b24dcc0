#include "cli/advice.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <charconv>
#include <cmath>
#include <iterator>
#include <thread>

#include "cli/branch_hint.h"
#include "cli/metric_tables.h"
#include "table/value_text.h"
#include "whatif/path_keys.h"
#include "whatif/screen.h"

namespace contrafact::cli {
namespace {

using whatif::Figures;
using whatif::Improvement;
using whatif::Optimisation;

Optimisation optimisation_of(analysis::CandidateKind kind) {
  switch (kind) {
    case analysis::CandidateKind::convert_to_inline:
      return Optimisation::convert_to_inline;
    case analysis::CandidateKind::hoist_branch:
      return Optimisation::hoist_branch;
    case analysis::CandidateKind::convert_to_combinator:
      return Optimisation::convert_to_combinator;
  }
  return Optimisation::convert_to_inline;
}

Improvement improvement_of(const analysis::Candidate& candidate) {
  Improvement improvement;
  improvement.optimisation = optimisation_of(candidate.kind);
  improvement.spawn_context = candidate.context;
  improvement.body = candidate.body;
  improvement.tasks = candidate.tasks;
  improvement.context_tasks = candidate.set_size;
  return improvement;
}

// The tasks of the candidate's set that are not its own.
std::vector<model::TaskId> others(const analysis::Candidate& candidate, const std::vector<analysis::Candidate>& all) {
  std::vector<model::TaskId> rest;
  for (const analysis::Candidate& whole : all) {
    if (whole.set != candidate.set || whole.kind != analysis::CandidateKind::convert_to_inline) continue;
    std::set_difference(whole.tasks.begin(), whole.tasks.end(), candidate.tasks.begin(), candidate.tasks.end(),
                        std::back_inserter(rest));
  }
  return rest;
}

std::string filter_reason(const Figures& figures, const Figures& base, const AdviceOptions& options) {
  auto above = [](double value, double limit) { return value > limit * (1 + whatif::kRounding); };
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
  if (options.filter_peak && figures.peak_occupied > base.peak_occupied) {
    return fmt::format("higher peak: {} -> {} threads", base.peak_occupied, figures.peak_occupied);
  }
  if (options.filter_mean && above(figures.mean_occupied, base.mean_occupied)) {
    return fmt::format("higher mean: {} -> {} threads", table::number_text(base.mean_occupied),
                       table::number_text(figures.mean_occupied));
  }
  return "";
}

// An advice's score and filters.
void judge(Advice& advice, const Advices& advices, const AdviceOptions& options) {
  const Figures figures = figures_to_read(advices, advice.estimate.figures, advice.simulated);
  advice.filtered = advice.simulated ? simulated_loss(advices, *advice.simulated, options) : "";
  advice.score = whatif::score_of(figures, advices.base, options.weights);
  if (advice.filtered.empty()) advice.filtered = filter_reason(figures, advices.base, options);
  if (options.filter_gain && advice.filtered.empty() && advice.score >= 1 - kScoreTolerance) advice.filtered = kNoGain;
}

// What is known of a candidate without estimating it.
Advice described(const analysis::Candidate& candidate, const std::vector<analysis::Candidate>& all,
                 const whatif::PathKeyIndex& paths, const analysis::BlockIndex& blocks) {
  Advice advice{.improvement = improvement_of(candidate), .path = candidate.path, .other_path = candidate.other_path};
  if (candidate.kind == analysis::CandidateKind::hoist_branch) {
    advice.improvement.path = whatif::branch_conditions(paths, candidate.tasks, others(candidate, all));
  }
  if (candidate.kind == analysis::CandidateKind::hoist_branch && advice.improvement.path.empty()) {
    advice.failed = "cannot be told apart: record the methods of the branch (--include)";
    return advice;
  }
  advice.violations = analysis::model_violations(blocks, candidate.tasks);
  for (const analysis::Violation& violation : advice.violations) {
    advice.improvement.warnings.push_back(violation.message);
  }
  return advice;
}

void add_interval(const whatif::Estimator& estimator, Advice& advice) {
  base::Result<whatif::Estimate> whole = estimator.estimate(std::span(&advice.improvement, 1), {.bounded = true});
  if (whole) advice.estimate = *std::move(whole);
}

// Calls `work` for each of 0 to `count`, on as many threads as there are cores.
template <typename Work>
void for_each_index(size_t count, const std::function<void(size_t done, size_t total)>& progress, Work work) {
  constexpr unsigned kThreadsMax = 8;  // each has the memory of a propagation or a simulation
  std::atomic<size_t> next{0}, done{0};
  auto loop = [&](bool reports) {
    for (size_t i = next++; i < count; i = next++) {
      work(i);
      ++done;
      if (reports && progress) progress(done, count);
    }
  };
  std::vector<std::thread> helpers;
  for (unsigned i = 1; i < std::min(kThreadsMax, std::thread::hardware_concurrency()); ++i)
    helpers.emplace_back(loop, false);
  loop(true);
  for (std::thread& helper : helpers) helper.join();
}

// Estimates what has not failed, and says whether it is to be ranked.
void estimate_all(const whatif::Estimator& estimator, const Advices& advices, const AdviceOptions& options,
                  std::vector<Advice>& considered) {
  std::vector<Advice*> open;
  std::vector<Improvement> improvements;
  for (Advice& advice : considered) {
    if (!advice.failed.empty()) continue;
    open.push_back(&advice);
    improvements.push_back(advice.improvement);
  }
  const std::vector<base::Result<Figures>> figures =
      whatif::screen(estimator, improvements, {.visits_max = options.visits_max, .progress = options.progress});
  for (size_t i = 0; i < open.size(); ++i) {
    if (!figures[i]) {
      const std::string& why = figures[i].error().message;
      open[i]->failed = why == whatif::kBeyondBudget ? why : "cannot be estimated: " + why;
      continue;
    }
    open[i]->estimate.figures = *figures[i];
    judge(*open[i], advices, options);
  }
}

// The interval costs three passes: only for what may be shown, the best first, as far as the budget goes.
void add_intervals(const whatif::Estimator& estimator, const AdviceOptions& options, std::vector<Advice>& considered) {
  std::vector<Advice*> shown;
  for (Advice& advice : considered) {
    if (advice.failed.empty() && advice.filtered.empty()) shown.push_back(&advice);
  }
  std::ranges::stable_sort(shown, {}, &Advice::score);
  const size_t count = std::min(shown.size(), whatif::intervals_max(estimator, options.visits_max));
  for (size_t i = count; i < shown.size(); ++i) shown[i]->filtered = whatif::kBeyondBudget;
  for_each_index(count, options.progress, [&](size_t i) { add_interval(estimator, *shown[i]); });
}

// All candidates, in their order.
std::vector<Advice> consider_all(const std::vector<analysis::Candidate>& candidates, const whatif::Estimator& estimator,
                                 const analysis::BlockIndex& blocks, const Advices& advices,
                                 const AdviceOptions& options) {
  std::vector<Advice> considered(candidates.size());
  const whatif::PathKeyIndex paths(*estimator.dag().trace);
  for_each_index(candidates.size(), options.progress,
                 [&](size_t i) { considered[i] = described(candidates[i], candidates, paths, blocks); });
  estimate_all(estimator, advices, options, considered);
  add_intervals(estimator, options, considered);
  return considered;
}

}  // namespace

double gain(double base, double value) {
  return base == 0 ? 0 : (base - value) / base;
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

base::Result<SimulatedEffect> simulate_effect(const model::Trace& trace, const whatif::Simulator& simulator,
                                              std::span<const Improvement> improvements, uint32_t cores) {
  base::Result<std::vector<whatif::Treatment>> treatments = whatif::treatments_of(trace, improvements);
  if (!treatments) return treatments.error();
  base::Result<whatif::Simulation> simulation = simulator.simulate(*treatments, {.cores = cores});
  if (!simulation) return simulation.error();
  SimulatedEffect effect{.duration_ns = simulation->duration_ns, .stuck = !simulation->stuck.empty()};
  if (effect.stuck) effect.stuck_why = simulation->stuck.front().reason;
  return effect;
}

bool reads_simulation(const Advices& advices, const std::optional<SimulatedEffect>& effect) {
  return advices.headline.model == model::Origin::simulated && effect && !effect->stuck;
}

Figures figures_to_read(const Advices& advices, Figures estimated, const std::optional<SimulatedEffect>& simulated) {
  if (!reads_simulation(advices, simulated)) return estimated;
  const double share =
      static_cast<double>(simulated->duration_ns) / std::max(1.0, static_cast<double>(advices.baseline->simulated_ns));
  estimated.duration_ns = std::llround(share * static_cast<double>(advices.base.duration_ns));
  return estimated;
}

SimulatedInterval simulated_interval(const whatif::BaselineCheck& baseline, const SimulatedEffect& effect) {
  const auto after_ns = static_cast<double>(effect.duration_ns);
  const double off_ns = std::fabs(baseline.error) * static_cast<double>(baseline.simulated_ns);
  return {std::max(0.0, after_ns - off_ns), after_ns + off_ns};
}

std::string simulated_loss(const Advices& advices, const SimulatedEffect& effect, const AdviceOptions& options) {
  if (!options.filter_time || !reads_simulation(advices, effect)) return "";
  const auto base_ns = static_cast<double>(advices.baseline->simulated_ns);
  const auto after_ns = static_cast<double>(effect.duration_ns);
  if (after_ns <= base_ns * (1 + options.slower_max + whatif::kRounding)) return "";
  return fmt::format("slower when simulated: {} -> {}", table::duration_text(base_ns), table::duration_text(after_ns));
}

namespace {

// Advice is about code that its reader can edit: what is handed out where no frame of the program is known goes to what
// has no candidate. A coordinator is edited in its body.
void leave_out_others_code(const model::Trace& trace, analysis::Candidates& found) {
  std::erase_if(found.candidates, [&](const analysis::Candidate& candidate) {
    const model::ContextId place = place_of(trace, candidate.context, candidate.tasks);
    if (!place.valid() || trace.has_program_frame(place)) return false;
    if (candidate.kind == analysis::CandidateKind::convert_to_combinator && candidate.body.valid() &&
        trace.owner_name(candidate.body).empty())
      return false;
    const std::string_view owner = trace.owner_name(trace.contexts[trace.program_frame(place).index()].method);
    found.ineligible.push_back(
        {.context = candidate.context,
         .body = candidate.body,
         .kind = candidate.kind,
         .reason = fmt::format("handed out by the code of {}, by no known line of the program", owner),
         .tasks = candidate.tasks.size()});
    return true;
  });
}

// Simulates the best of what can be estimated. Where the simulated figures are to be read first, also what the
// estimate, which knows no queues, would leave out; and these are judged anew.
void simulate_best(const model::Trace& trace, const whatif::Estimator& estimator, const whatif::Simulator& simulator,
                   const Advices& advices, std::vector<Advice>& considered, const AdviceOptions& options) {
  const bool decides = advices.headline.model == model::Origin::simulated;
  std::vector<Advice*> wanted;
  for (Advice& advice : considered) {
    if (advice.failed.empty() && (decides || advice.filtered.empty())) wanted.push_back(&advice);
  }
  std::ranges::stable_sort(wanted, {}, [](const Advice* advice) {
    return std::pair(!advice->filtered.empty() && advice->filtered != kNoGain, advice->score);
  });
  wanted.resize(std::min(wanted.size(), options.simulated_max));
  for_each_index(wanted.size(), options.progress, [&](size_t i) {
    Advice& advice = *wanted[i];
    base::Result<SimulatedEffect> effect =
        simulate_effect(trace, simulator, std::span(&advice.improvement, 1), options.cores);
    if (!effect) return;
    advice.simulated = *std::move(effect);
    if (!decides) return;
    const bool lacks_interval = !advice.filtered.empty();
    judge(advice, advices, options);
    if (lacks_interval && advice.filtered.empty()) add_interval(estimator, advice);
  });
}

}  // namespace

base::Result<Advices> advise(const model::Trace& trace, const whatif::Estimator& estimator,
                             const whatif::Simulator* simulator, const AdviceOptions& options) {
  analysis::Candidates found = analysis::candidates(trace);
  leave_out_others_code(trace, found);
  analysis::BlockIndex blocks(trace);
  Advices advices{.base = estimator.base(),
                  .ineligible = std::move(found.ineligible),
                  .candidates = found.candidates.size(),
                  .branch_hint = branch_hint(trace, found)};
  if (simulator) {
    base::Result<whatif::BaselineCheck> baseline = simulator->check_baseline({.cores = options.cores});
    if (!baseline) return baseline.error();
    advices.baseline = *std::move(baseline);
  }
  advices.headline = headline_of(trace, advices.baseline ? &*advices.baseline : nullptr, options.cores);
  std::vector<Advice> considered = consider_all(found.candidates, estimator, blocks, advices, options);
  if (simulator) simulate_best(trace, estimator, *simulator, advices, considered, options);
  for (Advice& advice : considered) {
    bool kept = advice.failed.empty() && advice.filtered.empty();
    (kept ? advices.ranked : advices.left_out).push_back(std::move(advice));
  }
  std::stable_sort(advices.ranked.begin(), advices.ranked.end(),
                   [](const Advice& a, const Advice& b) { return a.score < b.score; });
  return advices;
}

}  // namespace contrafact::cli
