#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <memory>

#include "advise/advice.h"
#include "advise/gain_over.h"
#include "cli/advice_tables.h"
#include "cli/commands.h"
#include "cli/exit_code.h"
#include "cli/json_document.h"
#include "cli/option_values.h"
#include "cli/output.h"
#include "cli/progress.h"
#include "cli/recordings.h"
#include "cli/spec_effect.h"
#include "cli/spec_input.h"
#include "cli/trace_input.h"
#include "model/facts.h"
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

// The gain by the model that is asked for.
advise::Gain gain_of(const SpecEffect& outcome) {
  advise::Advices read{.base = outcome.base, .baseline = outcome.baseline};
  if (outcome.baseline) read.headline.model = model::Origin::simulated;
  return gain_to_read(read, outcome.effect);
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

table::Table table_of(const Recordings& recordings, const SpecEffect& outcome, bool with_notes = true) {
  table::Table table = effect_table(outcome.base, outcome.baseline, outcome.effect, outcome.baseline.has_value());
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
      case whatif::Target::grain:
        one["tasks"] = improvement.tasks.size();
        one["size"] = improvement.size_after;
        break;
      case whatif::Target::sections:
        one["sections"] = improvement.sections.size();
        break;
      case whatif::Target::moves:
        if (!improvement.sections.empty()) {
          one["sections"] = improvement.sections.size();
        } else if (improvement.tasks.empty()) {
          one["permits"] = improvement.earlier_gives.size();
        } else {
          one["tasks"] = improvement.tasks.size();
        }
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

std::string json_of(const Options& options, const Recordings& recordings, const SpecEffect& outcome,
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

SpecEffectOptions effect_options(const Options& options, bool makes_trace) {
  return {.simulate = options.model == "redispatch", .cores = options.cores, .trace = makes_trace};
}

// None where the recording does not say what its sections touched.
std::optional<analysis::SectionFacts> sections_of(const Recordings& recordings, const model::Facts& facts) {
  if (!model::has_lock_events(facts.trace()) || !recordings.has_sets()) return {};
  return section_facts(recordings, facts);
}

// The gain of the same specs in another recording; nothing where none of their places occurs.
base::Result<advise::Gain> gain_in(const Recordings& recordings, const Recording& other, const Options& options) {
  const model::Facts facts(other.trace);
  base::Result<SpecEngines> engines = SpecEngines::create(facts, sections_of(recordings, facts));
  if (!engines) return engines.error();
  const base::Result<std::vector<improve::Candidate>> applied = read_spec_files(engines->specs(), options.specs);
  if (!applied) return advise::Gain{};
  const base::Result<SpecEffect> made =
      std::move(*engines).make(improvements_of(*applied), effect_options(options, false));
  if (!made) return made.error();
  return gain_of(*made);
}

// The gain by each recording and by all of them.
base::Status add_others(const Recordings& recordings, const Options& options, SpecEffect& outcome) {
  if (recordings.others.empty()) return {};
  advise::OverRecordings over{.each = {gain_of(outcome)}, .gain = {}};
  for (const Recording& other : recordings.others) {
    const base::Result<advise::Gain> gain = gain_in(recordings, other, options);
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
  base::Result<SpecEngines> engines = SpecEngines::create(facts, sections_of(*recordings, facts));
  if (!engines) return impossible(engines.error());
  base::Result<std::vector<improve::Candidate>> applied = read_spec_files(engines->specs(), options.specs);
  if (!applied) return fail(kExitInput, applied.error().message);
  const std::vector<whatif::Improvement> improvements = improvements_of(*applied);
  const bool simulates = options.model == "redispatch" || needs_simulation(improvements);
  if (simulates && options.model == "fixed" && options.model_given.given()) {
    return fail(kExitUsage, "--model fixed knows tasks only: what changes locks, pools or cores is simulated");
  }
  if (!simulates && options.cores > 0) {
    return fail(kExitUsage, "--cores is of the simulated machine: give --model redispatch too");
  }
  Progress progress(session, "estimating");
  base::Result<SpecEffect> outcome =
      std::move(*engines).make(improvements, effect_options(options, !options.output.empty()));
  if (!outcome) return impossible(outcome.error());
  base::Status added = add_others(*recordings, options, *outcome);
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
