#include "cli/advice_tables.h"

#include <fmt/format.h>

#include <cmath>
#include <map>
#include <numeric>
#include <vector>

#include "cli/metric_tables.h"
#include "cli/trace_input.h"
#include "table/value_text.h"

namespace contrafact::cli {
namespace {

using table::Cell;
using table::Change;
using table::Interval;
using table::Type;
using table::Unit;

// The models agree if their gains in time differ by less than this share of the run.
constexpr double kAgreement = 0.05;
// A self-check that is off by less does not show in three digits.
constexpr double kErrorShown = 5e-5;

Change change(double before, double after) {
  return {before, after};
}

// The gain in time, from the slow to the fast end of the recorded hand-offs.
Interval gain_interval(int64_t base_ns, int64_t low_ns, int64_t high_ns) {
  double base = static_cast<double>(base_ns);
  double one = gain(base, static_cast<double>(high_ns)), other = gain(base, static_cast<double>(low_ns));
  return {std::min(one, other), std::max(one, other)};
}

// By the figures that are to be read first.
Interval gain_interval(const Advices& advices, const Advice& advice) {
  if (!advices.baseline || !reads_simulation(advices, advice.simulated)) {
    return gain_interval(advices.base.duration_ns, advice.estimate.duration_low_ns, advice.estimate.duration_high_ns);
  }
  const auto base_ns = static_cast<double>(advices.baseline->simulated_ns);
  const SimulatedInterval after = simulated_interval(*advices.baseline, *advice.simulated);
  return {gain(base_ns, after.high_ns), gain(base_ns, after.low_ns)};
}

Cell simulated_cell(const Advices& advices, const Advice& advice) {
  if (!advices.baseline || !advice.simulated || advice.simulated->stuck) return std::monostate{};
  return change(static_cast<double>(advices.baseline->simulated_ns),
                static_cast<double>(advice.simulated->duration_ns));
}

Cell where(const model::Trace& trace, const whatif::Improvement& improvement) {
  return location_of(trace, place_of(trace, improvement.spawn_context, improvement.tasks));
}

std::string task_count(const whatif::Improvement& improvement) {
  return improvement.tasks.size() == improvement.context_tasks
             ? fmt::format("{}", improvement.tasks.size())
             : fmt::format("{} of {}", improvement.tasks.size(), improvement.context_tasks);
}

}  // namespace

const table::Schema kImprovementsSchema{
    "improvements",
    "What to change in the source and what that would gain, the best first; estimated unless it says simulated.",
    {{"rank", "#", Type::integer, Unit::none,
      "Position in the ranking, the best combination's first; the file name of its spec begins with it."},
     {"what", "what", Type::text, Unit::none, "convert-to-inline, hoist-branch or convert-to-combinator."},
     {"where", "where", Type::location, Unit::none, "The place in the source that hands the tasks out."},
     {"body", "runs", Type::location, Unit::none, "The method that the tasks run.", 6},
     {"tasks", "tasks", Type::text, Unit::none,
      "How many tasks of the run change (of how many that the place handed out).", 2},
     {"time_ns", "time", Type::change, Unit::ns, "Duration of the run, measured and estimated.", 7},
     {"time_gain", "time gain", Type::interval, Unit::ratio,
      "Gain in time by the figures to be read first. Estimated: if hand-offs are as slow or as fast as recorded (5th "
      "and 95th percentile). Simulated: by as much less or more as the simulation of the unchanged run is off."},
     {"peak", "peak", Type::change, Unit::threads, "Most threads occupied (active or waiting) at once."},
     {"mean", "mean", Type::change, Unit::threads, "Mean number of threads occupied.", 1},
     {"waiting", "waiting", Type::change, Unit::threads, "Mean number of threads waiting for another task's result.",
      3},
     {"simulated_ns", "simulated time", Type::change, Unit::ns,
      "Duration by the re-dispatch model: of the unchanged run, and with the improvement.", 5},
     {"models", "models", Type::text, Unit::none,
      "agree or differ: whether both models' gains in time lie within 5 % of the run; stuck: the simulated program "
      "hangs.",
      4},
     {"score", "score", Type::number, Unit::none,
      "Weighted mean of the figures as shares of the base's; less is better.", 9},
     {"warnings", "warnings", Type::integer, Unit::none, "Signs that tasks communicate by other means than results.",
      8}}};

const table::Schema kLeftOutSchema{
    "left-out",
    "What was considered and not advised.",
    {{"what", "what", Type::text, Unit::none, "The optimisation."},
     {"where", "where", Type::location, Unit::none, "The place in the source that hands the tasks out."},
     {"tasks", "tasks", Type::integer, Unit::tasks, "How many tasks."},
     {"reason", "reason", Type::text, Unit::none, "Why it is not advised."}}};

const table::Schema kEffectSchema{
    "effect",
    "What a variant of the program changes.",
    {{"figure", "figure", Type::text, Unit::none, "What is compared."},
     {"before", "before", Type::text, Unit::none, "In the recorded run."},
     {"after", "after", Type::text, Unit::none, "In the variant."},
     {"gain", "gain", Type::ratio, Unit::ratio, "How much less, as a share of before."},
     {"origin", "origin", Type::text, Unit::none, "estimated (fixed assignment) or simulated (re-dispatch)."}}};

std::string agreement(const Advices& advices, const Advice& advice) {
  if (!advices.baseline || !advice.simulated) return "-";
  if (advice.simulated->stuck) return "stuck";
  double simulated =
      gain(static_cast<double>(advices.baseline->simulated_ns), static_cast<double>(advice.simulated->duration_ns));
  double estimated =
      gain(static_cast<double>(advices.base.duration_ns), static_cast<double>(advice.estimate.figures.duration_ns));
  return std::fabs(simulated - estimated) <= kAgreement ? "agree" : "differ";
}

table::Table improvements_table(const model::Trace& trace, const Advices& advices) {
  std::vector<size_t> all(advices.ranked.size());
  std::iota(all.begin(), all.end(), size_t{0});
  return improvements_table(trace, advices, all);
}

table::Table improvements_table(const model::Trace& trace, const Advices& advices, std::span<const size_t> indexes) {
  table::Table table(kImprovementsSchema);
  const whatif::Figures& base = advices.base;
  for (size_t index : indexes) {
    const Advice& advice = advices.ranked[index];
    const whatif::Figures& after = advice.estimate.figures;
    table.add_row({static_cast<int64_t>(index + 1), std::string(whatif::name_of(advice.improvement.optimisation)),
                   where(trace, advice.improvement), location_of(trace, advice.improvement.body),
                   task_count(advice.improvement),
                   change(static_cast<double>(base.duration_ns), static_cast<double>(after.duration_ns)),
                   gain_interval(advices, advice), change(base.peak_occupied, after.peak_occupied),
                   change(base.mean_occupied, after.mean_occupied), change(base.mean_waiting, after.mean_waiting),
                   simulated_cell(advices, advice), agreement(advices, advice), advice.score,
                   static_cast<int64_t>(advice.violations.size())});
  }
  table.set_empty_reason(no_advice_reason(trace, advices));
  return table;
}

table::Table left_out_table(const model::Trace& trace, const Advices& advices) {
  table::Table table(kLeftOutSchema);
  for (const Advice& advice : advices.left_out) {
    std::string reason = advice.failed.empty() ? advice.filtered : advice.failed;
    table.add_row({std::string(whatif::name_of(advice.improvement.optimisation)), where(trace, advice.improvement),
                   static_cast<int64_t>(advice.improvement.tasks.size()), reason});
  }
  for (const analysis::Ineligible& set : advices.ineligible) {
    table.add_row({std::string(analysis::name_of(set.kind)), location_of(trace, set.context),
                   static_cast<int64_t>(set.tasks), set.reason});
  }
  table.set_empty_reason("everything that was considered is advised");
  return table;
}

table::Table effect_table(const Effect& effect) {
  table::Table table(kEffectSchema);
  auto add = [&](std::string figure, double before, double after, Type type, Unit unit, std::string origin) {
    table::Column column{.name = "", .type = type, .unit = unit};
    auto text = [&](double value) {
      Cell cell = type == Type::duration ? Cell(static_cast<int64_t>(value)) : Cell(value);
      return table::cell_text(cell, column, false);
    };
    table.add_row({std::move(figure), text(before), text(after), gain(before, after), std::move(origin)});
  };
  const whatif::Figures &base = effect.base, &after = effect.after;
  auto ns = [](int64_t value) { return static_cast<double>(value); };
  add("duration", ns(base.duration_ns), ns(after.duration_ns), Type::duration, Unit::ns, "estimated");
  add("duration, slow hand-offs", ns(base.duration_ns), ns(effect.duration_high_ns), Type::duration, Unit::ns,
      "estimated");
  add("duration, fast hand-offs", ns(base.duration_ns), ns(effect.duration_low_ns), Type::duration, Unit::ns,
      "estimated");
  if (effect.baseline != nullptr && effect.simulated != nullptr && !effect.simulated->stuck) {
    const double base_ns = ns(effect.baseline->simulated_ns);
    add("duration, re-dispatched", base_ns, ns(effect.simulated->duration_ns), Type::duration, Unit::ns, "simulated");
    if (std::fabs(effect.baseline->error) >= kErrorShown) {
      const SimulatedInterval after_ns = simulated_interval(*effect.baseline, *effect.simulated);
      add("duration, re-dispatched, at worst", base_ns, after_ns.high_ns, Type::duration, Unit::ns, "simulated");
      add("duration, re-dispatched, at best", base_ns, after_ns.low_ns, Type::duration, Unit::ns, "simulated");
    }
  }
  if (base.mean_response_ns > 0) {
    add("mean time of outermost tasks", base.mean_response_ns, after.mean_response_ns, Type::duration, Unit::ns,
        "estimated");
  }
  add("peak threads occupied", base.peak_occupied, after.peak_occupied, Type::number, Unit::threads, "estimated");
  add("mean threads occupied", base.mean_occupied, after.mean_occupied, Type::number, Unit::threads, "estimated");
  add("peak threads waiting", base.peak_waiting, after.peak_waiting, Type::number, Unit::threads, "estimated");
  add("mean threads waiting", base.mean_waiting, after.mean_waiting, Type::number, Unit::threads, "estimated");
  add("peak threads active", base.peak_active, after.peak_active, Type::number, Unit::threads, "estimated");
  add("mean threads active", base.mean_active, after.mean_active, Type::number, Unit::threads, "estimated");
  return table;
}

std::string no_advice_reason(const model::Trace& trace, const Advices& advices) {
  if (trace.tasks.empty()) return no_tasks_reason(trace);
  std::map<std::string, uint64_t> reasons;
  if (advices.candidates == 0) {
    for (const analysis::Ineligible& set : advices.ineligible) reasons[set.reason] += set.tasks;
    std::string list;
    for (const auto& [reason, tasks] : reasons)
      list += fmt::format("{}{}: {}", list.empty() ? "" : "; ", reason, tasks);
    const std::string unseen = unseen_schedulers(trace);
    return fmt::format("no task {} can be inlined, hoisted or turned into a combinator{}{}{}{}",
                       unseen.empty() ? "of the run" : "that was recorded",
                       list.empty() ? "" : "; tasks by reason: ", list,
                       trace.fact("agent") == "native" ? "; contrafact ulc says what to do about its locks" : "",
                       unseen.empty() ? "" : "; " + unseen_line(unseen));
  }
  for (const Advice& advice : advices.left_out) {
    const std::string& reason = advice.failed.empty() ? advice.filtered : advice.failed;
    ++reasons[reason.substr(0, reason.find(':'))];
  }
  std::string list;
  for (const auto& [reason, count] : reasons) list += fmt::format("{}{} {}", list.empty() ? "" : ", ", count, reason);
  return fmt::format("none of the {} possible improvements would gain anything: {} (--left-out lists them)",
                     advices.candidates, list);
}

}  // namespace contrafact::cli
