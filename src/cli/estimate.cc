#include <fmt/format.h>

#include <memory>

#include "base/file.h"
#include "cli/advice.h"
#include "cli/advice_tables.h"
#include "cli/commands.h"
#include "cli/estimate_locks.h"
#include "cli/exit_code.h"
#include "cli/json_document.h"
#include "cli/metric_tables.h"
#include "cli/option_values.h"
#include "cli/output.h"
#include "cli/progress.h"
#include "cli/trace_input.h"
#include "table/value_text.h"
#include "whatif/spec.h"

namespace contrafact::cli {
namespace {

struct Options {
  std::string path;
  std::vector<std::string> app;
  std::vector<std::string> specs;
  std::string output;
  std::string model = "fixed";
  Option model_given;
  uint32_t cores = 0;
  bool json = false;
};

// The variant by either model, as a trace with its figures.
struct Variant {
  whatif::Figures base;
  whatif::Estimate estimate;                     // fixed assignment
  std::optional<whatif::Simulation> simulation;  // re-dispatch
  std::optional<whatif::BaselineCheck> baseline;
  const model::Trace& trace() const { return simulation ? simulation->trace : *estimate.trace; }
};

base::Result<std::vector<whatif::Improvement>> read_specs(const std::vector<std::string>& paths,
                                                          const whatif::Estimator& estimator) {
  std::vector<whatif::Improvement> improvements;
  for (const std::string& path : paths) {
    base::Result<std::string> text = base::read_text_file(path);
    if (!text) return text.error();
    base::Result<std::vector<whatif::Improvement>> read = whatif::read_spec(estimator.dag(), *text);
    if (!read) return base::Error{fmt::format("{}: {}", path, read.error().message)};
    improvements.insert(improvements.end(), read->begin(), read->end());
  }
  return improvements;
}

base::Result<Variant> make_variant(const model::Trace& trace, const whatif::Estimator& estimator,
                                   const std::vector<whatif::Improvement>& improvements, const Options& options) {
  base::Result<whatif::Estimate> estimate = estimator.estimate(improvements, {.trace = true});
  if (!estimate) return estimate.error();
  Variant variant{.base = estimator.base(), .estimate = *std::move(estimate)};
  if (options.model == "fixed") return variant;
  whatif::SimulateOptions simulate_options{.cores = options.cores};
  base::Result<std::vector<whatif::Treatment>> treatments = whatif::treatments_of(trace, improvements);
  if (!treatments) return treatments.error();
  base::Result<whatif::Simulation> simulation = whatif::simulate(trace, *treatments, simulate_options);
  if (!simulation) return simulation.error();
  if (!simulation->stuck.empty()) {
    return base::Error{fmt::format("the simulated program hangs: {}", simulation->stuck.front().reason)};
  }
  variant.simulation = *std::move(simulation);
  base::Result<whatif::BaselineCheck> baseline = whatif::check_baseline(trace, simulate_options);
  if (!baseline) return baseline.error();
  variant.simulation->trace.facts.push_back(whatif::baseline_fact(*baseline));
  variant.baseline = *std::move(baseline);
  return variant;
}

table::Table table_of(const Variant& variant, bool with_notes = true) {
  Effect effect{.base = variant.base,
                .after = variant.estimate.figures,
                .duration_low_ns = variant.estimate.duration_low_ns,
                .duration_high_ns = variant.estimate.duration_high_ns};
  SimulatedEffect simulated;
  if (variant.simulation && variant.baseline) {
    simulated.duration_ns = variant.simulation->duration_ns;
    effect.baseline = &*variant.baseline;
    effect.simulated = &simulated;
  }
  table::Table table = effect_table(effect);
  if (!with_notes) return table;
  for (const std::string& note : variant.estimate.notes) table.add_note("note: " + note);
  if (variant.simulation) {
    for (const std::string& note : variant.simulation->notes) table.add_note("note (simulation): " + note);
  }
  return table;
}

std::string json_of(const Options& options, const model::Trace& trace, const Variant& variant,
                    const std::vector<whatif::Improvement>& improvements) {
  table::Json document = json_document("estimate");
  document["trace"] = trace_json_header(options.path, trace);
  document["applied"] = table::Json::array();
  for (const whatif::Improvement& one : improvements) {
    document["applied"].push_back(
        {{"optimisation", std::string(whatif::name_of(one.optimisation))}, {"tasks", one.tasks.size()}});
  }
  document["effect"] = table::rows_json(table_of(variant));
  document["base_duration_ns"] = variant.base.duration_ns;
  document["estimated_duration_ns"] = variant.estimate.figures.duration_ns;
  document["simulated_duration_ns"] = variant.simulation ? table::Json(variant.simulation->duration_ns) : table::Json();
  document["output"] = options.output;
  return table::json_text(document);
}

int run(const Options& options, const Session& session) {
  std::optional<model::Trace> trace = load_trace(options.path, session, options.app);
  if (!trace) return kExitInput;
  for (const std::string& spec : options.specs) protect_input(spec);
  base::Result<std::vector<whatif::LockSelector>> locks = read_lock_specs(options.specs);
  if (!locks) return fail(kExitInput, locks.error().message);
  if (!locks->empty()) {
    if (options.model_given.given()) {
      return fail(kExitUsage, "--model is for specs of tasks: a run with locks changed is always simulated");
    }
    return estimate_locks({.path = options.path,
                           .trace = *trace,
                           .apply = *std::move(locks),
                           .output = options.output,
                           .cores = options.cores,
                           .json = options.json},
                          session);
  }
  if (options.model == "fixed" && options.specs.empty()) {
    return fail(kExitUsage,
                "nothing to estimate: give --apply SPEC, or --model redispatch to simulate the unchanged run");
  }
  if (options.model == "fixed" && options.cores > 0) {
    return fail(kExitUsage, "--cores is of the simulated machine: give --model redispatch too");
  }
  base::Result<whatif::Estimator> estimator = whatif::Estimator::create(*trace);
  if (!estimator) return fail(kExitImpossible, fmt::format("{}: {}", options.path, estimator.error().message));
  base::Result<std::vector<whatif::Improvement>> improvements = read_specs(options.specs, *estimator);
  if (!improvements) return fail(kExitInput, improvements.error().message);
  Progress progress(session, "estimating");
  base::Result<Variant> variant = make_variant(*trace, *estimator, *improvements, options);
  progress.done();
  if (!variant) return fail(kExitImpossible, fmt::format("{}: {}", options.path, variant.error().message));
  if (!options.output.empty()) {
    base::Status saved = save_trace(variant->trace(), options.output);
    if (!saved) return fail(kExitOutput, saved.error().message);
    tell_written(session, options.output);
  }
  std::string text = options.json ? json_of(options, *trace, *variant, *improvements)
                                  : table::render_text(table_of(*variant, !session.quiet), session.out);
  base::Status printed = print(text);
  return printed.ok() ? kExitOk : fail(kExitOutput, printed.error().message);
}

Run declare(OptionList& list) {
  auto options = std::make_shared<Options>();
  list.add_option("trace", options->path, "a recorded run").value_name("FILE").required();
  add_app_option(list, options->app);
  list.add_option("--apply", options->specs, "an improvement spec; repeatable").value_name("FILE").repeatable();
  list.add_option("-o,--output", options->output, "write the variant as a trace that every command can read")
      .value_name("FILE");
  options->model_given =
      list.add_option("--model", options->model,
                      "fixed: tasks keep their workers; redispatch: pools hand tasks out anew. Not for specs of locks, "
                      "which are simulated")
          .check(one_of({"fixed", "redispatch"}))
          .show_default();
  list.add_option("--cores", options->cores, "cores of the simulated machine; default: the recorded one's")
      .check(whole_number(1));
  list.add_flag("--json", options->json, "as JSON");
  return [options](Session& session) { return run(*options, session); };
}

}  // namespace

const Command kEstimateCommand{"estimate", "estimate the run with improvements made, and write it as a trace",
                               "contrafact estimate run.cft --apply specs/best.json -o estimated.cft\n"
                               "contrafact estimate run.cft --apply specs/best.json --model redispatch --cores 8\n"
                               "contrafact estimate native.cft --apply specs/01-split-lock.json -o changed.cft",
                               declare};

}  // namespace contrafact::cli
