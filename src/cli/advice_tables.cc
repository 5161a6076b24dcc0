#include "cli/advice_tables.h"

#include <fmt/format.h>

#include <cmath>
#include <map>
#include <numeric>
#include <vector>

#include "analysis/lock_likeness.h"
#include "analysis/lock_profile.h"
#include "analysis/places.h"
#include "cli/callers.h"
#include "cli/metric_tables.h"
#include "cli/trace_input.h"
#include "improve/kinds/kinds.h"
#include "table/value_text.h"

namespace contrafact::cli {
namespace {

using advise::Advice;
using advise::Advices;
using advise::Effect;
using table::Cell;
using table::Change;
using table::Interval;
using table::Type;
using table::Unit;
using whatif::Target;

// The models agree if their gains in time differ by less than this share of the run.
constexpr double kAgreement = 0.05;
// A self-check that is off by less does not show in three digits.
constexpr double kErrorShown = 5e-5;

Change change(double before, double after) {
  return {before, after};
}

Cell simulated_cell(const Advices& advices, const Advice& advice) {
  const auto& simulated = advice.effect.simulated;
  if (!advices.baseline || !simulated || simulated->stuck) return std::monostate{};
  return change(static_cast<double>(advices.baseline->simulated_ns), static_cast<double>(simulated->duration_ns));
}

Cell where_sections(const model::Trace& trace, const analysis::SectionFacts* facts,
                    const improve::Candidate& candidate) {
  if (facts == nullptr || candidate.sites.empty()) return std::monostate{};
  const analysis::LockSite& site = facts->sites.sites()[candidate.sites[0]];
  Cell at = location_of(trace, site.context);
  return at.is_empty() ? Cell(table::Location{.method = site.label, .file = "", .line = 0}) : at;
}

// Where tasks were handed out; none: nothing is.
model::ContextId called_at(const model::Trace& trace, const Advice& advice) {
  const whatif::Improvement& improvement = advice.improvement();
  if (advice.target() != Target::tasks && advice.target() != Target::grain) return {};
  return analysis::place_of(trace, improvement.spawn_context, improvement.tasks);
}

// Where it is made, for there its size is said; else where threads waited for what it has.
Cell where_pool(const model::Trace& trace, const improve::Candidate& candidate) {
  const model::PoolId pool = candidate.improvement.pool;
  table::Location at{.method = "pool " + analysis::pool_name(trace, pool), .file = "", .line = 0};
  const Cell made = location_of(trace, analysis::pool_maker(trace, pool));
  if (const auto* place = std::get_if<table::Location>(&made.value()); place != nullptr && place->line > 0) {
    at.file = place->file, at.line = place->line, at.path = place->path;
    return at;
  }
  return candidate.waited_at.valid() ? location_of(trace, candidate.waited_at) : Cell(at);
}

Cell where(const model::Trace& trace, const analysis::SectionFacts* facts, const Advice& advice) {
  const whatif::Improvement& improvement = advice.improvement();
  switch (advice.target()) {
    case Target::tasks:
    case Target::grain:
      return location_of(trace, called_at(trace, advice));
    case Target::sections:
      return where_sections(trace, facts, advice.candidate);
    case Target::moves:
      return location_of(trace, improvement.spawn_context.valid() ? improvement.spawn_context : improvement.before);
    case Target::pool:
      if (improvement.is_resource && advice.candidate.waited_at.valid())
        return location_of(trace, advice.candidate.waited_at);
      if (!improvement.threads.empty()) {
        const std::string_view what = improvement.is_resource ? "resource " : "threads ";
        return table::Location{.method = std::string(what) + improvement.threads, .file = "", .line = 0};
      }
      return where_pool(trace, advice.candidate);
    case Target::machine:
      return table::Location{.method = "the machine", .file = "", .line = 0};
  }
  return std::monostate{};
}

std::string share_of(size_t part, uint64_t whole, std::string_view one, std::string_view many) {
  if (part == whole) return table::counted_text(whole, one, many);
  return fmt::format("{} of {}", part, table::counted_text(whole, one, many));
}

// "40 of 120 tasks", "488 of 510 sections".
Cell changes(const Advice& advice) {
  const whatif::Improvement& improvement = advice.improvement();
  switch (advice.target()) {
    case Target::tasks:
    case Target::grain:
      return share_of(improvement.tasks.size(), improvement.context_tasks, "task", "tasks");
    case Target::sections:
      return share_of(improvement.sections.size(), advice.candidate.of_sections, "section", "sections");
    case Target::moves:
      if (!improvement.tasks.empty())
        return share_of(improvement.tasks.size(), improvement.tasks.size(), "task", "tasks");
      if (!improvement.sections.empty()) return table::counted_text(improvement.sections.size(), "section", "sections");
      return table::counted_text(improvement.earlier_gives.size(), "permit", "permits");
    case Target::pool:
    case Target::machine:
      break;
  }
  return std::monostate{};
}

Cell runs(const model::Trace& trace, const Advice& advice) {
  const bool is_of_tasks = advice.target() == Target::tasks || advice.target() == Target::grain;
  return is_of_tasks ? location_of(trace, advice.improvement().body) : Cell();
}

std::vector<Cell> improvement_row(const model::Trace& trace, const analysis::SectionFacts* facts,
                                  const Advices& advices, size_t index) {
  const Advice& advice = advices.ranked[index];
  const whatif::Figures &base = advices.base, after = advise::figures_to_read(advices, advice.effect);
  const advise::Gain gain = advise::gain_to_read(advices, advice.effect);
  const bool estimated = advice.effect.estimated;
  const auto threads = [&](double before, double now) { return estimated ? Cell(change(before, now)) : Cell(); };
  return {static_cast<int64_t>(index + 1),
          what_of(advice),
          where(trace, facts, advice),
          gain.share,
          Interval{gain.low, gain.high},
          std::string(name_of(advice.verdict)),
          std::string(name_of(improve::kind_of(advice.improvement()).effort(advice.candidate))),
          changes(advice),
          threads(base.peak_occupied, after.peak_occupied),
          threads(base.mean_occupied, after.mean_occupied),
          threads(base.mean_waiting, after.mean_waiting),
          runs(trace, advice),
          estimated ? Cell(change(static_cast<double>(base.duration_ns),
                                  static_cast<double>(advice.effect.estimate.figures.duration_ns)))
                    : Cell(),
          simulated_cell(advices, advice),
          agreement(advices, advice),
          advice.score,
          static_cast<int64_t>(advice.violations.size())};
}

const std::string& kinds_legend() {
  static const std::string text = fmt::format(
      "The optimisation: {} of tasks; {} of their number; {} of critical sections; {} of what tasks do; {}; {}.",
      kinds_text(Target::tasks), kinds_text(Target::grain), kinds_text(Target::sections), kinds_text(Target::moves),
      kinds_text(Target::pool), kinds_text(Target::machine));
  return text;
}

}  // namespace

std::string kinds_text(Target target, bool with_legends) {
  std::vector<std::string> names;
  for (const improve::Kind* kind : improve::all_kinds()) {
    if (kind->target() != target) continue;
    names.emplace_back(kind->name());
    if (with_legends && !kind->legend().empty()) names.back() += " " + std::string(kind->legend());
  }
  std::string text = names[0];
  for (size_t i = 1; i < names.size(); ++i) text += (i + 1 < names.size() ? ", " : " or ") + names[i];
  return text;
}

const table::Schema kImprovementsSchema{
    "improvements",
    "What to change and what that would gain, the best first; estimated unless it says simulated.",
    {{"rank", "#", Type::integer, Unit::none,
      "Position in the ranking, the best combination's first; the file name of its spec begins with it."},
     {"what", "what", Type::word, Unit::none, kinds_legend()},
     {"where", "where", Type::location, Unit::none,
      "The place in the source that hands the tasks out or asks for the lock; or the pool."},
     {"gain", "gain", Type::ratio, Unit::ratio, "Of the run's duration, by the figures to be read first."},
     {"time_gain", "interval", Type::interval, Unit::ratio,
      "The gain's range. Estimated: with hand-overs as slow or as fast as recorded (5th and 95th percentile). "
      "Simulated: over simulations with drawn hand-overs; widened by the error of the simulation of the unchanged run.",
      3},
     {"verdict", "verdict", Type::word, Unit::none, "What to think of the gain in time.", 5},
     {"work", "work", Type::word, Unit::none,
      "How much there is to change, as far as the kind tells: a setting, one line, one function, a redesign, hardware.",
      4},
     {"changes", "changes", Type::word, Unit::none,
      "How many tasks or critical sections of the run change, of how many of that place.", 6},
     {"peak", "peak", Type::change, Unit::threads, "Most threads occupied (active or waiting) at once.", 1},
     {"mean", "mean", Type::change, Unit::threads, "Mean number of threads occupied.", 2},
     {"waiting", "waiting", Type::change, Unit::threads, "Mean number of threads waiting for another task's result.",
      7},
     {"body", "runs", Type::location, Unit::none, "The method that the tasks run.", 10},
     {"time_ns", "estimated time", Type::change, Unit::ns, "Duration of the run, measured and estimated.", 11},
     {"simulated_ns", "simulated time", Type::change, Unit::ns,
      "Duration by the re-dispatch model: of the unchanged run, and with the improvement.", 9},
     {"models", "models", Type::text, Unit::none,
      "agree or differ: whether both models' gains in time lie within 5 % of the run; stuck: the simulated program "
      "hangs.",
      8},
     {"score", "score", Type::number, Unit::none,
      "Weighted mean of the figures as shares of the base's; less is better.", 13},
     {"warnings", "warnings", Type::integer, Unit::none, "Signs that tasks communicate by other means than results.",
      12}}};

const table::Schema kLeftOutSchema{
    "left-out",
    "What was considered and not advised.",
    {{"what", "what", Type::text, Unit::none, "The optimisation."},
     {"where", "where", Type::location, Unit::none,
      "The place in the source that hands the tasks out or asks for the lock; or the lock."},
     {"tasks", "number", Type::integer, Unit::none, "How many tasks or critical sections."},
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
  const Effect& effect = advice.effect;
  if (!advices.baseline || !effect.simulated || !effect.estimated) return "-";
  if (effect.simulated->stuck) return "stuck";
  const double estimated = advise::gain(static_cast<double>(advices.base.duration_ns),
                                        static_cast<double>(effect.estimate.figures.duration_ns));
  return std::fabs(effect.simulated->gain - estimated) <= kAgreement ? "agree" : "differ";
}

namespace {

std::string location_text(const Cell& cell) {
  const table::Column column{.name = "", .type = Type::location};
  const std::string text = table::cell_text(cell, column, true);
  return text.starts_with("at ") ? text.substr(3) : text;
}

}  // namespace

std::string place_text_of(const AdviceDocument& document, size_t index) {
  const Cell cell = where(document.trace(), document.sections, document.advices.ranked[index]);
  const std::string runs_at = runs_at_text(document, index);
  return location_text(cell) + (runs_at.empty() ? "" : ", to run at " + runs_at);
}

std::string place_text_of(const AdviceDocument& document, const advise::Advice& advice) {
  return location_text(place_cell_of(document, advice));
}

table::Cell place_cell_of(const AdviceDocument& document, const advise::Advice& advice) {
  return where(document.trace(), document.sections, advice);
}

std::string runs_at_text(const AdviceDocument& document, size_t index) {
  const model::ContextId place = document.advices.ranked[index].candidate.runs_at;
  return place.valid() ? location_text(location_of(document.trace(), place)) : "";
}

std::string what_of(const Advice& advice) {
  return improve::kind_of(advice.improvement()).title(advice.candidate);
}

table::Table improvements_table(const AdviceDocument& document) {
  std::vector<size_t> all(document.advices.ranked.size());
  std::iota(all.begin(), all.end(), size_t{0});
  return improvements_table(document, all);
}

table::Table improvements_table(const AdviceDocument& document, std::span<const size_t> indexes) {
  table::Table table(kImprovementsSchema);
  Rows rows;
  std::vector<model::ContextId> contexts;
  for (const size_t index : indexes) {
    rows.push_back(improvement_row(document.trace(), document.sections, document.advices, index));
    contexts.push_back(called_at(document.trace(), document.advices.ranked[index]));
  }
  constexpr size_t kWhereColumn = 2;
  name_callers(document.trace(), contexts, kWhereColumn, rows);
  for (std::vector<Cell>& row : rows) table.add_row(std::move(row));
  table.set_empty_reason(no_advice_reason(document));
  return table;
}

table::Table left_out_table(const AdviceDocument& document) {
  const model::Trace& trace = document.trace();
  table::Table table(kLeftOutSchema);
  Rows rows;
  std::vector<model::ContextId> contexts;
  for (const Advice& advice : document.advices.left_out) {
    const size_t count = advice.improvement().tasks.size() + advice.improvement().sections.size();
    rows.push_back({what_of(advice), where(trace, document.sections, advice), static_cast<int64_t>(count),
                    advice.failed.empty() ? advice.filtered : advice.failed});
    contexts.push_back(called_at(trace, advice));
  }
  for (const improve::Ineligible& set : document.advices.ineligible) {
    Cell at = location_of(trace, set.context);
    if (set.lock.valid()) at = table::Location{.method = analysis::lock_name(trace, set.lock), .file = "", .line = 0};
    rows.push_back({std::string(name_of(set.optimisation)), at, static_cast<int64_t>(set.tasks), set.reason});
    contexts.push_back(set.lock.valid() ? model::ContextId() : set.context);
  }
  constexpr size_t kWhereColumn = 1;
  name_callers(trace, contexts, kWhereColumn, rows);
  for (std::vector<Cell>& row : rows) table.add_row(std::move(row));
  table.set_empty_reason("everything that was considered is advised");
  return table;
}

table::Table effect_table(const whatif::Figures& base, const std::optional<whatif::BaselineCheck>& baseline,
                          const Effect& effect, bool simulated_first) {
  table::Table table(kEffectSchema);
  auto add = [&](std::string figure, double before, double after, Type type, Unit unit, std::string origin) {
    table::Column column{.name = "", .type = type, .unit = unit};
    auto text = [&](double value) {
      Cell cell = type == Type::duration ? Cell(static_cast<int64_t>(std::llround(value))) : Cell(value);
      return table::cell_text(cell, column, false);
    };
    table.add_row({std::move(figure), text(before), text(after), advise::gain(before, after), std::move(origin)});
  };
  const whatif::Estimate& estimate = effect.estimate;
  const whatif::Figures& after = estimate.figures;
  auto ns = [](int64_t value) { return static_cast<double>(value); };
  // If other changes than those of tasks are made, too, the estimated figures are of the tasks alone.
  const std::string estimated = effect.partly_estimated ? "estimated, tasks alone" : "estimated";
  if (effect.over) {
    const advise::Gain& gain = effect.over->gain;
    const double base_ns = ns(base.duration_ns);
    const std::string origin = fmt::format("{}, by {} recordings", name_of(gain.origin), effect.over->each.size());
    add("duration, median", base_ns, base_ns * (1 - gain.share), Type::duration, Unit::ns, origin);
    add("duration, at worst", base_ns, base_ns * (1 - gain.low), Type::duration, Unit::ns, origin);
    add("duration, at best", base_ns, base_ns * (1 - gain.high), Type::duration, Unit::ns, origin);
  }
  const auto add_simulated = [&] {
    if (!baseline || !effect.simulated || effect.simulated->stuck) return;
    const double base_ns = ns(baseline->simulated_ns);
    const advise::Gain gain = advise::gain_of(*baseline, *effect.simulated);
    add("duration, simulated", base_ns, base_ns * (1 - gain.share), Type::duration, Unit::ns, "simulated");
    if (gain.high - gain.low < 2 * kErrorShown) return;
    add("duration, simulated, at worst", base_ns, base_ns * (1 - gain.low), Type::duration, Unit::ns, "simulated");
    add("duration, simulated, at best", base_ns, base_ns * (1 - gain.high), Type::duration, Unit::ns, "simulated");
  };
  if (simulated_first) add_simulated();
  if (effect.estimated) {
    add("duration", ns(base.duration_ns), ns(after.duration_ns), Type::duration, Unit::ns, estimated);
    add("duration, slow hand-overs", ns(base.duration_ns), ns(estimate.duration_high_ns), Type::duration, Unit::ns,
        estimated);
    add("duration, fast hand-overs", ns(base.duration_ns), ns(estimate.duration_low_ns), Type::duration, Unit::ns,
        estimated);
  }
  if (effect.sections) {
    const std::string origin = effect.partly_estimated ? "estimated, locks alone" : "estimated";
    const double base_ns = ns(base.duration_ns);
    add("duration, recorded order", base_ns, base_ns * (1 - effect.sections->recorded_order), Type::duration, Unit::ns,
        origin);
    if (effect.sections->floor)
      add("duration, by conflicts", base_ns, base_ns * (1 - *effect.sections->floor), Type::duration, Unit::ns, origin);
  }
  if (!simulated_first) add_simulated();
  if (!effect.estimated) return table;
  if (base.mean_response_ns > 0) {
    add("mean time of outermost tasks", base.mean_response_ns, after.mean_response_ns, Type::duration, Unit::ns,
        estimated);
  }
  add("peak threads at work or waiting", base.peak_occupied, after.peak_occupied, Type::number, Unit::threads,
      estimated);
  add("mean threads at work or waiting", base.mean_occupied, after.mean_occupied, Type::number, Unit::threads,
      estimated);
  add("peak threads waiting", base.peak_waiting, after.peak_waiting, Type::number, Unit::threads, estimated);
  add("mean threads waiting", base.mean_waiting, after.mean_waiting, Type::number, Unit::threads, estimated);
  add("peak threads active", base.peak_active, after.peak_active, Type::number, Unit::threads, estimated);
  add("mean threads active", base.mean_active, after.mean_active, Type::number, Unit::threads, estimated);
  return table;
}

// Hints at what the recording does not show about locks. Each hint ends with "; ".
std::string hint_of_locks(const model::Facts& facts, const analysis::SectionFacts* sections) {
  const model::Trace& trace = facts.trace();
  std::string hint;
  const auto is_held = [](const format::LockRow& lock) { return model::is_held(lock.kind); };
  if (sections != nullptr) {
    const std::vector<uint32_t>& sets = sections->sets.of_section;
    const auto known = std::ranges::count_if(sets, [&](uint32_t set) { return sections->sets.is_complete(set); });
    if (2 * static_cast<size_t>(known) < sets.size()) {
      hint += fmt::format(
          "the reads and writes of {} of {} critical sections are known: contrafact ulc says why not of the others; ",
          table::count_text(known), table::count_text(static_cast<int64_t>(sets.size())));
    }
  } else if (trace.access_sets.empty() && std::ranges::any_of(trace.locks, is_held)) {
    hint +=
        model::has_lock_events(trace)
            ? "a second recording, with --sets, shows which waiting for locks is unnecessary: give both recordings "
              "to contrafact advise; "
            : "recordings made by contrafact record --classes-from THIS --sets --twice show which waiting for locks "
              "is unnecessary: give both to contrafact advise; ";
  }
  const std::vector<bool> by_use = analysis::locks_by_use(trace, facts.sections(), facts.wakes());
  if (std::ranges::find(by_use, true) != by_use.end()) {
    hint +=
        "for how long a lock built of a condition or futex is held is not recorded: contrafact locks shows who waits "
        "there, and who ends the waits; ";
  }
  return hint;
}

std::string no_advice_reason(const AdviceDocument& document) {
  const Advices& advices = document.advices;
  const model::Trace& trace = document.trace();
  if (trace.tasks.empty() && advices.candidates == 0) return no_tasks_reason(trace);
  std::map<std::string, uint64_t> reasons;
  if (advices.candidates == 0) {
    for (const improve::Ineligible& set : advices.ineligible) {
      if (set.tasks > 0) reasons[set.reason] += set.tasks;
    }
    std::string list;
    for (const auto& [reason, tasks] : reasons)
      list += fmt::format("{}{}: {}", list.empty() ? "" : "; ", reason, tasks);
    const std::string unseen = unseen_schedulers(trace);
    return fmt::format(
        "{}no task {} can be inlined, hoisted or turned into a combinator{}{}{}",
        hint_of_locks(*document.facts, document.sections), unseen.empty() ? "of the run" : "that was recorded",
        list.empty() ? "" : "; tasks by reason: ", list, unseen.empty() ? "" : "; " + unseen_line(unseen));
  }
  for (const Advice& advice : advices.left_out) {
    const std::string& reason = advice.failed.empty() ? advice.filtered : advice.failed;
    ++reasons[reason.substr(0, reason.find(':'))];
  }
  std::string list;
  for (const auto& [reason, count] : reasons) list += fmt::format("{}{} {}", list.empty() ? "" : ", ", count, reason);
  return fmt::format("none of the {} possible improvements is sure to gain anything: {} (--left-out lists them)",
                     advices.left_out.size(), list);
}

}  // namespace contrafact::cli
