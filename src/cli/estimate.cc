#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <memory>

#include "advise/advice.h"
#include "advise/gain_over.h"
#include "advise/section_advice.h"
#include "cli/advice_tables.h"
#include "cli/commands.h"
#include "cli/exit_code.h"
#include "cli/json_document.h"
#include "cli/option_values.h"
#include "cli/output.h"
#include "cli/progress.h"
#include "cli/recordings.h"
#include "cli/spec_input.h"
#include "cli/trace_input.h"
#include "table/value_text.h"

namespace contrafact::cli {
namespace {

struct Options {
  RecordingPaths paths;
  std::vector<std::string> app;
  std::vector<std::string> specs;
  std::string output;
  std::string model = "fixed";
  Option model_given;
  uint32_t cores = 0;
  bool json = false;
};

// The improvements made together, by the models that know them.
struct Outcome {
  whatif::Figures base;
  advise::Effect effect;
  std::optional<whatif::BaselineCheck> baseline;  // of what is simulated
  std::optional<model::Trace> simulated;          // if the run is to be written, and was simulated
  const model::Trace& trace() const { return simulated ? *simulated : *effect.estimate.trace; }
};

// What the engines need, as far as the trace has it.
struct Prepared {
  std::optional<analysis::SectionFacts> sections;
  std::optional<whatif::Estimator> estimator;
  std::optional<advise::Pricer> pricer;

  improve::SpecTrace specs(const model::Trace& trace) const {
    return {
        .trace = trace, .dag = estimator ? &estimator->dag() : nullptr, .sections = sections ? &*sections : nullptr};
  }
};

bool changes(const std::vector<whatif::Improvement>& improvements, whatif::Target target) {
  return std::ranges::any_of(improvements, [&](const whatif::Improvement& improvement) {
    return whatif::target_of(improvement.optimisation) == target;
  });
}

// Only a simulation knows other changes than those of tasks.
bool needs_simulation(const std::vector<whatif::Improvement>& improvements) {
  return std::ranges::any_of(improvements, [](const whatif::Improvement& improvement) {
    return whatif::target_of(improvement.optimisation) != whatif::Target::tasks;
  });
}

// The gain by the model that is asked for.
advise::Gain gain_of(const Outcome& outcome) {
  advise::Advices read{.base = outcome.base, .baseline = outcome.baseline};
  if (outcome.baseline) read.headline.model = model::Origin::simulated;
  return gain_to_read(read, outcome.effect);
}

// `prepared` is used up: the simulation that makes a trace needs the memory.
base::Result<Outcome> make(const model::Facts& facts, Prepared& prepared, const Options& options,
                           const std::vector<whatif::Improvement>& improvements) {
  const model::Trace& trace = facts.trace();
  Outcome outcome;
  advise::Effect& effect = outcome.effect;
  outcome.base.duration_ns = trace.end_ns() - trace.begin_ns();
  const bool estimated =
      prepared.estimator && (!needs_simulation(improvements) || changes(improvements, whatif::Target::tasks));
  if (estimated) {
    std::vector<whatif::Improvement> tasks;
    std::ranges::copy_if(improvements, std::back_inserter(tasks), [](const whatif::Improvement& improvement) {
      return whatif::target_of(improvement.optimisation) == whatif::Target::tasks;
    });
    base::Result<whatif::Estimate> estimate =
        prepared.estimator->estimate(tasks, {.trace = !prepared.pricer->simulates()});
    if (!estimate) return estimate.error();
    outcome.base = prepared.estimator->base();
    effect.estimate = *std::move(estimate);
    effect.estimated = true;
    effect.partly_estimated = needs_simulation(improvements);
  }
  if (!prepared.pricer->simulates()) return outcome;
  if (changes(improvements, whatif::Target::sections)) {
    base::Result<whatif::SectionGains> gains = prepared.pricer->section_gains(improvements);
    if (!gains) return gains.error();
    effect.sections = *std::move(gains);
  }
  base::Result<advise::SimulatedEffect> simulated = prepared.pricer->simulate(improvements);
  if (!simulated) return simulated.error();
  if (simulated->stuck) return base::Error{"the simulated program hangs: " + simulated->stuck_why};
  effect.simulated = *std::move(simulated);
  outcome.baseline = prepared.pricer->baseline();
  if (options.output.empty()) return outcome;
  const base::Result<whatif::Variant> variant = prepared.pricer->variant(improvements);
  if (!variant) return variant.error();
  prepared.pricer.reset();
  prepared.estimator.reset();
  prepared.sections.reset();
  base::Result<whatif::Simulation> simulation = whatif::simulate(facts, *variant, {.cores = options.cores});
  if (!simulation) return simulation.error();
  outcome.simulated = std::move(simulation->trace);
  outcome.simulated->facts.push_back(whatif::baseline_fact(*outcome.baseline));
  return outcome;
}

std::vector<std::string> paths_of(const Recordings& recordings) {
  std::vector<std::string> paths{recordings.path};
  for (const Recording& other : recordings.others) paths.push_back(other.path);
  return paths;
}

// "the gain by recording: 31 % in a.cft, 29 % in b.cft"
std::string by_recording_text(const Recordings& recordings, const advise::OverRecordings& over) {
  std::string text;
  const std::vector<std::string> paths = paths_of(recordings);
  for (size_t i = 0; i < paths.size(); ++i)
    text += fmt::format("{}{} in {}", i == 0 ? "" : ", ", table::percent_text(over.each[i]->share), paths[i]);
  return "the gain by recording: " + text;
}

table::Json by_recording_json(const Recordings& recordings, const advise::OverRecordings& over) {
  table::Json rows = table::Json::array();
  const std::vector<std::string> paths = paths_of(recordings);
  for (size_t i = 0; i < paths.size(); ++i) {
    const advise::Gain& gain = *over.each[i];
    rows.push_back({{"gain", gain.share}, {"low", gain.low}, {"high", gain.high}, {"path", paths[i]}});
  }
  return rows;
}

table::Table table_of(const Recordings& recordings, const Outcome& outcome, bool with_notes = true) {
  table::Table table = effect_table(outcome.base, outcome.baseline, outcome.effect);
  if (outcome.effect.over) table.add_note(by_recording_text(recordings, *outcome.effect.over));
  if (!with_notes) return table;
  if (!outcome.effect.estimated || outcome.effect.partly_estimated) {
    table.add_note(fmt::format("the gain, simulated: {} ({})", table::percent_text(outcome.effect.simulated->gain),
                               name_of(advise::verdict_of(outcome.effect, outcome.baseline))));
  }
  for (const std::string& note : outcome.effect.estimate.notes) table.add_note("note: " + note);
  if (outcome.effect.simulated) {
    for (const std::string& note : outcome.effect.simulated->notes) table.add_note("note (simulation): " + note);
  }
  return table;
}

table::Json applied_json(const std::vector<improve::Candidate>& applied) {
  table::Json list = table::Json::array();
  for (const improve::Candidate& candidate : applied) {
    const whatif::Improvement& improvement = candidate.improvement;
    table::Json one{{"optimisation", name_of(improvement.optimisation)}};
    switch (whatif::target_of(improvement.optimisation)) {
      case whatif::Target::tasks:
        one["tasks"] = improvement.tasks.size();
        break;
      case whatif::Target::sections:
        one["sections"] = improvement.sections.size();
        break;
      case whatif::Target::pool:
      case whatif::Target::machine:
        one["size"] = improvement.size_after;
        break;
    }
    list.push_back(std::move(one));
  }
  return list;
}

std::string json_of(const Options& options, const Recordings& recordings, const Outcome& outcome,
                    const std::vector<improve::Candidate>& applied) {
  const std::optional<whatif::BaselineCheck>& baseline = outcome.baseline;
  const advise::Effect& effect = outcome.effect;
  table::Json document = json_document("estimate");
  document["trace"] = trace_json_header(recordings.path, recordings.trace);
  document["applied"] = applied_json(applied);
  document["effect"] = table::rows_json(table_of(recordings, outcome));
  document["base_duration_ns"] = outcome.base.duration_ns;
  document["estimated_duration_ns"] = nullptr;
  if (effect.estimated) document["estimated_duration_ns"] = effect.estimate.figures.duration_ns;
  if (effect.sections) {
    const double share = 1 - effect.sections->recorded_order;
    document["estimated_duration_ns"] = std::llround(static_cast<double>(outcome.base.duration_ns) * share);
  }
  document["simulated_base_ns"] = baseline ? table::Json(baseline->simulated_ns) : table::Json();
  document["simulated_duration_ns"] = effect.simulated ? table::Json(effect.simulated->duration_ns) : table::Json();
  document["gain"] = effect.simulated ? table::Json(effect.simulated->gain) : table::Json();
  document["verdict"] = baseline ? table::Json(name_of(advise::verdict_of(effect, baseline))) : table::Json();
  const advise::Gain gain = outcome.effect.over ? outcome.effect.over->gain : gain_of(outcome);
  document["interval"] = {{"gain", gain.share}, {"low", gain.low}, {"high", gain.high}};
  document["by_recording"] = outcome.effect.over ? by_recording_json(recordings, *outcome.effect.over) : table::Json();
  document["output"] = options.output;
  return table::json_text(document);
}

// The part that needs no simulation.
base::Status prepare(const model::Facts& facts, Prepared& prepared) {
  if (facts.trace().tasks.empty()) return {};
  base::Result<whatif::Estimator> estimator = whatif::Estimator::create(facts);
  if (!estimator) return estimator.error();
  prepared.estimator = *std::move(estimator);
  return {};
}

// The gain of the same specs in another recording; nothing where none of their places occurs.
base::Result<advise::Gain> gain_in(const Recordings& recordings, const Recording& other, const Options& options,
                                   bool simulates) {
  const model::Facts facts(other.trace);
  Prepared prepared;
  if (!other.trace.locks.empty() && recordings.has_sets()) prepared.sections.emplace(section_facts(recordings, facts));
  if (base::Status status = prepare(facts, prepared); !status) return status.error();
  const base::Result<std::vector<improve::Candidate>> applied =
      read_spec_files(prepared.specs(other.trace), options.specs);
  if (!applied) return advise::Gain{};
  std::vector<whatif::Improvement> improvements;
  for (const improve::Candidate& candidate : *applied) improvements.push_back(candidate.improvement);
  prepared.pricer.emplace(facts, prepared.sections ? &*prepared.sections : nullptr,
                          advise::PricerOptions{.simulate = simulates, .cores = options.cores});
  if (simulates && !prepared.pricer->simulates()) return base::Error{"the run cannot be simulated"};
  Options plain = options;
  plain.output.clear();
  const base::Result<Outcome> outcome = make(facts, prepared, plain, improvements);
  if (!outcome) return outcome.error();
  return gain_of(*outcome);
}

// The gain by each recording and by all of them.
base::Status add_others(const Recordings& recordings, const Options& options, bool simulates, Outcome& outcome) {
  if (recordings.others.empty()) return {};
  advise::OverRecordings over{.each = {gain_of(outcome)}, .gain = {}};
  for (const Recording& other : recordings.others) {
    const base::Result<advise::Gain> gain = gain_in(recordings, other, options, simulates);
    if (!gain) return base::Error{fmt::format("{}: {}", other.path, gain.error().message)};
    over.each.push_back(*gain);
  }
  over.gain = advise::gain_over(over.each);
  outcome.effect.over = std::move(over);
  return {};
}

int run(const Options& options, const Session& session) {
  std::optional<Recordings> recordings = load_recordings(options.paths, session, options.app);
  if (!recordings) return kExitInput;
  const model::Trace& trace = recordings->trace;
  for (const std::string& spec : options.specs) protect_input(spec);
  const auto impossible = [&](const base::Error& error) {
    return fail(kExitImpossible, fmt::format("{}: {}", recordings->path, error.message));
  };
  if (options.model == "fixed" && options.specs.empty()) {
    return fail(kExitUsage,
                "nothing to estimate: give --apply SPEC, or --model redispatch to simulate the unchanged run");
  }
  const model::Facts facts(trace);
  Prepared prepared;
  if (!trace.locks.empty() && recordings->has_sets()) prepared.sections.emplace(section_facts(*recordings, facts));
  if (base::Status status = prepare(facts, prepared); !status) return impossible(status.error());
  base::Result<std::vector<improve::Candidate>> applied = read_spec_files(prepared.specs(trace), options.specs);
  if (!applied) return fail(kExitInput, applied.error().message);
  std::vector<whatif::Improvement> improvements;
  for (const improve::Candidate& candidate : *applied) improvements.push_back(candidate.improvement);
  const bool simulates = options.model == "redispatch" || needs_simulation(improvements);
  if (simulates && options.model == "fixed" && options.model_given.given()) {
    return fail(kExitUsage, "--model fixed knows tasks only: what changes locks, pools or cores is simulated");
  }
  if (!simulates && options.cores > 0) {
    return fail(kExitUsage, "--cores is of the simulated machine: give --model redispatch too");
  }
  Progress progress(session, "estimating");
  prepared.pricer.emplace(facts, prepared.sections ? &*prepared.sections : nullptr,
                          advise::PricerOptions{.simulate = simulates, .cores = options.cores});
  if (simulates && !prepared.pricer->simulates()) return impossible({"the run cannot be simulated"});
  base::Result<Outcome> outcome = make(facts, prepared, options, improvements);
  if (!outcome) return impossible(outcome.error());
  base::Status added = add_others(*recordings, options, simulates, *outcome);
  progress.done();
  if (!added) return fail(kExitImpossible, added.error().message);
  if (!options.output.empty()) {
    base::Status saved = save_trace(outcome->trace(), options.output);
    if (!saved) return fail(kExitOutput, saved.error().message);
    tell_written(session, options.output);
  }
  std::string text = options.json ? json_of(options, *recordings, *outcome, *applied)
                                  : table::render_text(table_of(*recordings, *outcome, !session.quiet), session.out);
  base::Status printed = options.json ? print(text) : print_text(session, text);
  return printed.ok() ? kExitOk : fail(kExitOutput, printed.error().message);
}

Run declare(OptionList& list) {
  auto options = std::make_shared<Options>();
  add_recordings_arguments(list, options->paths);
  add_app_option(list, options->app);
  list.add_option("--apply", options->specs, "An improvement spec; repeatable").value_name("FILE").repeatable();
  list.add_option("-o,--output", options->output, "Write the variant as a trace that every command can read")
      .value_name("FILE");
  options->model_given =
      list.add_option(
              "--model", options->model,
              "How tasks find workers; fixed: as recorded; redispatch: pools hand them out anew. What changes locks, "
              "pools or cores is always simulated")
          .check(one_of({"fixed", "redispatch"}))
          .show_default();
  list.add_option("--cores", options->cores, "Cores of the simulated machine; default: the recorded one's")
      .check(whole_number(1));
  list.add_flag("--json", options->json, "Print JSON");
  return [options](Session& session) { return run(*options, session); };
}

}  // namespace

const Command kEstimateCommand{
    "estimate", "Estimate the run with improvements made, and write it as a trace",
    "contrafact estimate run.cft --apply specs/best.json -o estimated.cft\n"
    "contrafact estimate run.cft --apply specs/best.json --model redispatch --cores 8\n"
    "contrafact estimate native.cft sets.cft --apply specs/01-split-lock.json --apply cores.json -o changed.cft",
    declare};

}  // namespace contrafact::cli
