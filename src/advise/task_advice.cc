#include "advise/task_advice.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <set>

#include "analysis/places.h"
#include "improve/path_keys.h"
#include "improve/task_change.h"
#include "whatif/screen.h"

namespace contrafact::advise {
namespace {

using whatif::Improvement;

// It may be shown, by itself or in a combination.
bool may_be_shown(const Advice& advice) {
  return advice.filtered.empty() || advice.filtered == kNoGain;
}

// A wait for a lock whose acquisitions the trace does not have keeps its recorded length, in whatever order its tasks
// run. If that alone may make a change look slower, its effect is not known.
void judge_task(Advice& advice, const Advices& advices, const AdviceOptions& options) {
  judge(advice, advices, options);
  if (!advice.filtered.starts_with("slower")) return;
  int64_t waited_ns = advice.named_lock_waits_ns;
  for (const analysis::Violation& violation : advice.violations) {
    if (violation.kind == analysis::ViolationKind::lock_contended) waited_ns += violation.blocked_ns;
  }
  const int64_t after_ns = figures_to_read(advices, advice.effect).duration_ns;
  if (waited_ns == 0 || after_ns - waited_ns > advices.base.duration_ns) return;
  advice.filtered =
      fmt::format("not known: its tasks wait for each other at a lock {}",
                  advice.named_lock_waits_ns > 0 ? "whose acquisitions were not recorded (record --classes-from THIS)"
                                                 : "that the trace does not name");
}

void add_interval(const whatif::Estimator& estimator, const Advices& advices, Advice& advice) {
  const whatif::Figures known = advice.effect.estimate.figures;
  base::Result<whatif::Estimate> whole =
      estimator.estimate(std::span(&advice.improvement(), 1), {.known = &known, .bounded = true});
  if (whole) advice.effect.estimate = *std::move(whole);
  advice.verdict = verdict_to_read(advices, advice.effect);
}

// What is known of a candidate without estimating it.
Advice described(const improve::Candidate& candidate, const std::vector<improve::Candidate>& all,
                 const improve::PathKeyIndex& paths, const analysis::BlockIndex& blocks) {
  Advice advice{.candidate = candidate};
  Improvement& improvement = advice.candidate.improvement;
  const improve::TaskChange& kind = improve::task_change_of(improvement);
  advice.failed = kind.complete(all, paths, advice.candidate);
  if (!advice.failed.empty()) return advice;
  advice.violations = analysis::model_violations(blocks, improvement.tasks);
  advice.named_lock_waits_ns = analysis::named_lock_waits_ns(blocks, improvement.tasks);
  if (kind.keeps_failures())
    std::erase_if(advice.violations,
                  [](const analysis::Violation& one) { return one.kind == analysis::ViolationKind::failure; });
  for (const analysis::Violation& violation : advice.violations) improvement.warnings.push_back(violation.message);
  return advice;
}

// Estimates what has not failed, and says whether it is to be ranked.
void estimate_all(const whatif::Estimator& estimator, Advices& advices, const AdviceOptions& options,
                  std::vector<Advice>& considered) {
  std::vector<Advice*> open;
  std::vector<Improvement> improvements;
  for (Advice& advice : considered) {
    if (!advice.failed.empty()) continue;
    advice.screened = static_cast<uint32_t>(open.size());
    open.push_back(&advice);
    improvements.push_back(advice.improvement());
  }
  whatif::Batch batch(estimator, improvements, options.visits_max);
  whatif::Screened found = whatif::screen(batch, {.visits_max = options.visits_max, .progress = options.progress});
  const auto screened =
      std::make_shared<const ScreenedTasks>(ScreenedTasks{std::move(improvements), std::move(batch), std::move(found)});
  advices.screened = screened;
  const std::vector<base::Result<whatif::Figures>>& figures = screened->found.figures;
  for (size_t i = 0; i < open.size(); ++i) {
    if (!figures[i]) {
      const std::string& why = figures[i].error().message;
      open[i]->failed = why == whatif::kBeyondBudget ? why : "cannot be estimated: " + why;
      continue;
    }
    open[i]->effect.estimate.figures = *figures[i];
    open[i]->effect.estimated = true;
    judge_task(*open[i], advices, options);
  }
}

// An interval costs three passes. So only advice that may be shown gets one: the best first, as far as the budget goes.
void add_intervals_of_shown(const whatif::Estimator& estimator, const Advices& advices, const AdviceOptions& options,
                            std::vector<Advice>& considered) {
  std::vector<Advice*> shown;
  for (Advice& advice : considered) {
    if (advice.failed.empty() && advice.filtered.empty()) shown.push_back(&advice);
  }
  std::ranges::stable_sort(shown, {}, &Advice::score);
  const size_t count = std::min(shown.size(), whatif::intervals_max(estimator, options.visits_max));
  for (size_t i = count; i < shown.size(); ++i) shown[i]->filtered = whatif::kBeyondBudget;
  for_each_index(count, options.progress, [&](size_t i) { add_interval(estimator, advices, *shown[i]); });
}

// Simulates the best of the improvements that can be estimated. Where the simulated figures are to be read first, also
// simulates those that the estimate, which knows no queues, would leave out, and judges them anew.
void simulate_best(const Engines& engines, const Advices& advices, std::vector<Advice>& considered,
                   const AdviceOptions& options) {
  const bool decides = advices.headline.model == model::Origin::simulated;
  std::vector<Advice*> wanted;
  for (Advice& advice : considered) {
    if (advice.failed.empty() && (decides || advice.filtered.empty())) wanted.push_back(&advice);
  }
  std::ranges::stable_sort(wanted, {},
                           [](const Advice* advice) { return std::pair(!may_be_shown(*advice), advice->score); });
  wanted.resize(std::min(wanted.size(), options.simulated_max));
  for_each_index(wanted.size(), options.progress, [&](size_t i) {
    Advice& advice = *wanted[i];
    base::Result<SimulatedEffect> effect = engines.pricer.simulate(std::span(&advice.improvement(), 1));
    if (!effect) return;
    advice.effect.simulated = *std::move(effect);
    if (!decides) return;
    const bool lacks_interval = !advice.filtered.empty();
    judge_task(advice, advices, options);
    if (lacks_interval && advice.filtered.empty()) add_interval(*engines.estimator, advices, advice);
  });
}

model::ContextId place_of(const model::Trace& trace, const improve::Candidate& candidate) {
  return analysis::place_of(trace, candidate.improvement.spawn_context, candidate.improvement.tasks);
}

bool is_of_library(const model::Trace& trace, model::MethodId method) {
  return method.valid() && method.index() < trace.owners.of_method.size() &&
         trace.owners.of_method[method.index()] >= model::CodeOwners::kLibraries;
}

// A library's own bodies that the library also hands out while no frame of the program is on the stack. An operator of
// a reactive program is one: a line of the program begins it, and it goes on from the thread of what came before it.
std::set<model::MethodId> bodies_of_library_alone(const model::Trace& trace, const improve::Candidates& found) {
  std::set<model::MethodId> bodies;
  for (const improve::Candidate& candidate : found.candidates) {
    if (!is_of_library(trace, candidate.improvement.body)) continue;
    const model::ContextId place = place_of(trace, candidate);
    if (place.valid() && !trace.has_program_frame(place)) bodies.insert(candidate.improvement.body);
  }
  return bodies;
}

}  // namespace

std::vector<Advice> advise_tasks(const Engines& engines, const improve::Candidates& found, Advices& advices,
                                 const AdviceOptions& options) {
  const analysis::BlockIndex blocks(engines.pricer.facts());
  std::vector<Advice> considered(found.candidates.size());
  const improve::PathKeyIndex paths(engines.pricer.trace());
  for_each_index(considered.size(), options.progress,
                 [&](size_t i) { considered[i] = described(found.candidates[i], found.candidates, paths, blocks); });
  estimate_all(*engines.estimator, advices, options, considered);
  add_intervals_of_shown(*engines.estimator, advices, options, considered);
  if (engines.pricer.simulates()) simulate_best(engines, advices, considered, options);
  return considered;
}

void leave_out_others_code(const model::Trace& trace, improve::Candidates& found) {
  const std::set<model::MethodId> by_library_alone = bodies_of_library_alone(trace, found);
  std::erase_if(found.candidates, [&](const improve::Candidate& candidate) {
    const Improvement& improvement = candidate.improvement;
    const model::ContextId place = place_of(trace, candidate);
    if (!place.valid()) return false;
    std::string reason;
    if (trace.has_program_frame(place)) {
      if (!by_library_alone.contains(improvement.body)) return false;
      reason = fmt::format("{} hands out others of its tasks by itself: no line of the program changes these alone",
                           trace.owner_name(improvement.body));
    } else {
      if (improve::task_change_of(improvement).changes_body() && improvement.body.valid() &&
          trace.owner_name(improvement.body).empty())
        return false;
      const std::string_view owner = trace.owner_name(trace.contexts[trace.program_frame(place).index()].method);
      reason = fmt::format("handed out by the code of {}, by no known line of the program", owner);
    }
    found.ineligible.push_back({.optimisation = improvement.optimisation,
                                .context = improvement.spawn_context,
                                .body = improvement.body,
                                .reason = std::move(reason),
                                .tasks = improvement.tasks.size()});
    return true;
  });
}

}  // namespace contrafact::advise
