#include "cli/estimate_locks.h"

#include <fmt/format.h>

#include "base/file.h"
#include "cli/exit_code.h"
#include "cli/json_document.h"
#include "cli/lock_advice.h"
#include "cli/output.h"
#include "cli/progress.h"
#include "cli/trace_input.h"
#include "cli/ulc_tables.h"
#include "table/value_text.h"
#include "whatif/lock_edits.h"

namespace contrafact::cli {
namespace {

struct Outcome {
  LockAdvices advices;
  whatif::LockEstimate estimate;  // of all of them made together
  whatif::Simulation simulation;
};

base::Result<Outcome> make(const analysis::SectionFacts& facts, const LockEstimateInput& input) {
  Outcome outcome;
  base::Result<LockAdvices> advices =
      advise_locks(facts, {.estimate = {.cores = input.cores}, .apply = input.apply, .progress = {}});
  if (!advices) return advices.error();
  outcome.advices = *std::move(advices);
  std::vector<whatif::LockImprovement> improvements;
  for (const LockAdvice& advice : outcome.advices.ranked) improvements.push_back(advice.improvement);
  base::Result<std::vector<whatif::SectionEdit>> edits = whatif::edits_of(input.trace, facts.sections, improvements);
  if (!edits) return edits.error();
  const bool one = outcome.advices.ranked.size() == 1;
  outcome.estimate = one ? outcome.advices.ranked[0].estimate : outcome.advices.together_estimate;
  base::Result<whatif::Simulation> simulation =
      whatif::simulate_sections(input.trace, *edits, {.cores = input.cores, .build_trace = !input.output.empty()});
  if (!simulation) return simulation.error();
  if (!simulation->stuck.empty()) {
    return base::Error{fmt::format("the simulated program hangs: {}", simulation->stuck.front().reason)};
  }
  outcome.simulation = *std::move(simulation);
  const whatif::LockBaseline& baseline = outcome.advices.baseline;
  outcome.simulation.trace.facts.push_back(whatif::baseline_fact(
      {.recorded_ns = baseline.recorded_ns, .simulated_ns = baseline.simulated_ns, .error = baseline.error}));
  return outcome;
}

std::string text_of(const analysis::SectionFacts& facts, const Outcome& outcome, const Session& session) {
  const whatif::LockBaseline& baseline = outcome.advices.baseline;
  const auto duration = [](int64_t ns) { return table::duration_text(static_cast<double>(ns)); };
  std::string text = table::render_text(lock_remedies_table(facts, outcome.advices, true), session.out);
  text += fmt::format("all of it: {} recorded, {} unchanged (simulated), {} changed (simulated): {} ({})\n",
                      duration(baseline.recorded_ns), duration(baseline.simulated_ns),
                      duration(outcome.simulation.duration_ns), table::percent_text(outcome.estimate.free_order),
                      verdict_of(outcome.estimate, baseline));
  if (session.quiet) return text;
  for (const std::string& note : outcome.simulation.notes) text += "note (simulation): " + note + "\n";
  return text;
}

table::Json json_of(const LockEstimateInput& input, const analysis::SectionFacts& facts, const Outcome& outcome) {
  const whatif::LockBaseline& baseline = outcome.advices.baseline;
  table::Json document = json_document("estimate");
  document["trace"] = trace_json_header(input.path, input.trace);
  document["applied"] = table::Json::array();
  for (const LockAdvice& advice : outcome.advices.ranked) {
    document["applied"].push_back({{"optimisation", whatif::name_of(advice.improvement.optimisation)},
                                   {"sections", advice.improvement.sections.size()}});
  }
  document["effect"] = table::rows_json(lock_remedies_table(facts, outcome.advices, true));
  document["base_duration_ns"] = baseline.recorded_ns;
  document["estimated_duration_ns"] =
      static_cast<int64_t>(static_cast<double>(baseline.retimed_ns) * (1 - outcome.estimate.recorded_order));
  document["simulated_base_ns"] = baseline.simulated_ns;
  document["simulated_duration_ns"] = outcome.simulation.duration_ns;
  document["verdict"] = verdict_of(outcome.estimate, baseline);
  document["output"] = input.output;
  return document;
}

}  // namespace

base::Result<std::vector<whatif::LockSelector>> read_lock_specs(const std::vector<std::string>& paths) {
  std::vector<whatif::LockSelector> all;
  size_t of_locks = 0;
  for (const std::string& path : paths) {
    base::Result<std::string> text = base::read_text_file(path);
    if (!text) return text.error();
    base::Result<std::vector<whatif::LockSelector>> read = whatif::read_lock_spec(*text);
    if (!read) continue;  // of tasks, or nothing at all: its reader says which
    ++of_locks;
    all.insert(all.end(), read->begin(), read->end());
  }
  if (of_locks == 0 || of_locks == paths.size()) return all;
  return base::Error{"some specs are of locks and some are not: apply them one kind at a time"};
}

int estimate_locks(const LockEstimateInput& input, const Session& session) {
  if (const std::string why = no_sets_reason(input.trace); !why.empty()) {
    return fail(kExitImpossible, fmt::format("{}: {}", input.path, why));
  }
  const analysis::SectionFacts facts(input.trace);
  Progress progress(session, "estimating");
  const base::Result<Outcome> outcome = make(facts, input);
  progress.done();
  if (!outcome) return fail(kExitImpossible, fmt::format("{}: {}", input.path, outcome.error().message));
  if (!input.output.empty()) {
    const base::Status saved = save_trace(outcome->simulation.trace, input.output);
    if (!saved) return fail(kExitOutput, saved.error().message);
    tell_written(session, input.output);
  }
  const base::Status printed =
      print(input.json ? table::json_text(json_of(input, facts, *outcome)) : text_of(facts, *outcome, session));
  return printed.ok() ? kExitOk : fail(kExitOutput, printed.error().message);
}

}  // namespace contrafact::cli
