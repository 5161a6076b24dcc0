#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

#include "analysis/cpu_use.h"
#include "analysis/lock_profile.h"
#include "base/saturating.h"
#include "cli/commands.h"
#include "cli/exit_code.h"
#include "cli/json_document.h"
#include "cli/option_values.h"
#include "cli/output.h"
#include "cli/progress.h"
#include "cli/recordings.h"
#include "cli/replay_rows.h"
#include "cli/spec_input.h"
#include "cli/trace_input.h"
#include "cli/ulc_tables.h"
#include "improve/kinds/kinds.h"
#include "improve/spec.h"
#include "model/text_names.h"
#include "table/value_text.h"

namespace contrafact::cli {
namespace {

struct Options {
  RecordingPaths paths;
  std::string specs;
  std::vector<std::string> apply;
  size_t top = 20;
  uint32_t cores = 0;
  uint32_t seeds = advise::PricerOptions().draws;
  bool pairs = false;
  bool all = false;
  bool json = false;
};

struct Document {
  const Options& options;
  const Recordings& recordings;
  const analysis::SectionFacts& facts;
  const analysis::UlcProfile& profile;
  const advise::SectionAdvices& advices;
  const std::optional<whatif::BaselineCheck>& baseline;
  SectionsPriced priced() const { return {advices, baseline}; }
};

// Why no recording shows which locks are needed; empty if one does.
std::string unsuitable(const Recordings& recordings) {
  return recordings.observed ? "" : advise::no_sets_reason(recordings.trace);
}

// Why there is nothing to say; empty if there is.
std::string empty_reason(const Recordings& recordings, const analysis::UlcProfile& profile) {
  if (std::string why = unsuitable(recordings); !why.empty()) return why;
  if (profile.sections == 0) return "the program held no lock that the agent sees (docs/native.md says which it sees)";
  return profile.pairs.all() == 0 ? "no lock was held by one thread after another" : "";
}

// Says that a part of the run is not counted, if the file has only some of it. The notes on the trace say how much.
std::string missing_text(const model::Loss& loss) {
  if (loss.cut_off) return "the file ends early: the sections after its end are not counted, nobody knows how many\n";
  if (loss.blocks_damaged == 0 && loss.events_dropped == 0) return "";
  return fmt::format("parts of the {} are missing: sections that began or ended there are not counted\n",
                     loss.blocks_damaged > 0 ? "file" : "run");
}

// "11 900 of 12 340 critical sections have complete sets; outside_window 300, system_call 140"
std::string coverage_text(const model::Trace& trace, const analysis::UlcProfile& profile) {
  const std::string missing = missing_text(trace.loss);
  std::string text =
      fmt::format("{} of {}{} {} complete sets", table::count_text(static_cast<int64_t>(profile.gaps[0])),
                  table::counted_text(profile.sections, "critical section", "critical sections"),
                  missing.empty() ? "" : " in the file", profile.sections == 1 ? "has" : "have");
  for (size_t gap = 1; gap < profile.gaps.size(); ++gap) {
    if (profile.gaps[gap] == 0) continue;
    text += fmt::format("{} {} {}", text.find(';') == std::string::npos ? ";" : ",",
                        model::kSetGapNames[static_cast<format::SetGap>(gap)],
                        table::count_text(static_cast<int64_t>(profile.gaps[gap])));
  }
  return text + "\n" + missing;
}

double gain_of(const analysis::UlcProfile& profile, int64_t duration_ns) {
  if (profile.recorded_ns <= 0) return 0;
  return 1 - static_cast<double>(duration_ns) / static_cast<double>(profile.recorded_ns);
}

std::string head_text(const Document& document) {
  const analysis::UlcProfile& profile = document.profile;
  const auto count = [](uint64_t n) { return table::count_text(static_cast<int64_t>(n)); };
  std::string text = coverage_text(*document.facts.trace, profile);
  text += fmt::format(
      "{}: {} unnecessary, {} in conflict, {} unknown; the unnecessary ones cost {} of waiting (measured)\n",
      table::counted_text(profile.pairs.all(), "pair", "pairs"), count(profile.pairs.unnecessary()),
      count(profile.pairs[graph::PairKind::conflict]), count(profile.pairs[graph::PairKind::unknown]),
      table::duration_text(static_cast<double>(profile.cost_ns)));
  text += fmt::format(
      "without any lock: {} shorter; with the recorded order of what conflicts alone: {} (estimated, cores are no "
      "limit; a remedy may gain more, for what waking threads costs is in both)\n",
      table::percent_text(gain_of(profile, profile.no_locks_ns)),
      table::percent_text(gain_of(profile, profile.conflicts_ns)));
  if (document.baseline) {
    const whatif::BaselineCheck& baseline = *document.baseline;
    const auto duration = [](int64_t ns) { return table::duration_text(static_cast<double>(ns)); };
    text +=
        fmt::format("the unchanged run: {} recorded, {} simulated ({}), {} re-timed{}\n", duration(profile.recorded_ns),
                    duration(baseline.simulated_ns), table::percent_text(baseline.error), duration(baseline.retimed_ns),
                    baseline.trusted ? "" : ": too far off, gains are the less certain");
  }
  text += recordings_text(document.recordings, document.facts);
  text += foreign_text(*document.facts.trace);
  return text;
}

// "1 and 4 together: 18.2 % (simulated), 12 % in recorded order (estimated)"
std::string together_text(const Document& document) {
  const advise::SectionAdvices& advices = document.advices;
  if (advices.together.empty()) return "";
  std::string text;
  for (size_t i = 0; i < advices.together.size(); ++i) {
    const bool last = i + 1 == advices.together.size();
    text += fmt::format("{}{}", i == 0 ? "" : last ? " and " : ", ", advices.together[i] + 1);
  }
  const advise::Effect& effect = advices.together_effect;
  text += " together: ";
  if (ends_simulated(effect)) {
    text += fmt::format("{} (simulated: {}), ", table::percent_text(effect.simulated->gain),
                        name_of(advise::verdict_of(effect, document.baseline)));
  }
  return text + fmt::format("{} in recorded order (estimated)\n", table::percent_text(effect.sections->recorded_order));
}

void cut(table::Table& table, size_t top, std::string_view what) {
  if (const size_t all = table.rows().size(); all > top) {
    table.truncate(top);
    table.add_note(fmt::format("({} of {} {}; --top shows more)", top, all, what));
  }
}

// Whether a reader would ask why the lock is not split: threads waited for it, and nothing proposed for it helps.
bool is_asked(const Document& document, const improve::Ineligible& refused) {
  constexpr int64_t kWaitsMin = 100;  // a hundredth of the run
  if (refused.optimisation != improve::kinds::split_lock || !document.options.apply.empty()) return false;
  for (const advise::Advice& advice : document.advices.ranked) {
    const bool is_of_it = std::ranges::find(advice.candidate.locks, refused.lock) != advice.candidate.locks.end();
    if (is_of_it && helps(advice, document.baseline)) return false;
  }
  int64_t wait_ns = 0;
  for (const model::CriticalSection& section : document.facts.sections) {
    if (section.lock == refused.lock) wait_ns = base::add_saturated(wait_ns, section.wait_ns());
  }
  return wait_ns >= document.profile.recorded_ns / kWaitsMin;
}

// What could not be judged, in the order of first appearance: several locks may have one name and one reason. Without
// --all only what a reader would ask.
std::vector<std::pair<std::string, size_t>> refused_lines(const Document& document) {
  std::vector<std::pair<std::string, size_t>> lines;
  for (const improve::Ineligible& refused : document.advices.ineligible) {
    if (!document.options.all && !is_asked(document, refused)) continue;
    std::string line = fmt::format("no {} of {}: {}", name_of(refused.optimisation),
                                   analysis::lock_name(*document.facts.trace, refused.lock), refused.reason);
    const auto known = std::ranges::find(lines, line, &std::pair<std::string, size_t>::first);
    if (known == lines.end()) {
      lines.emplace_back(std::move(line), 1);
    } else {
      ++known->second;
    }
  }
  return lines;
}

std::vector<analysis::ConflictPlace> conflicts_of(const Document& document) {
  return analysis::conflict_places(document.facts, memory_names(document.recordings));
}

std::string text_of(const Document& document, const Session& session) {
  table::Table sites = ulc_sites_table(document.facts, document.profile, document.priced());
  table::Table remedies =
      lock_remedies_table(document.facts, document.priced(), document.options.all || !document.options.apply.empty());
  const std::string why = empty_reason(document.recordings, document.profile);
  if (!why.empty()) return "Nothing to judge: " + why + "\n" + missing_text(document.facts.trace->loss);
  cut(sites, document.options.top, "sites");
  cut(remedies, document.options.top, "remedies");
  if (document.advices.not_priced > 0) {
    remedies.add_note(fmt::format("({} more candidates at locks that were waited for less were not priced)",
                                  document.advices.not_priced));
  }
  std::string text = head_text(document) + "\n" + table::render_text(sites, session.out);
  if (table::Table conflicts = ulc_conflicts_table(document.facts, conflicts_of(document)); !conflicts.rows().empty()) {
    cut(conflicts, document.options.top, "conflicts");
    text += "\n" + table::render_text(conflicts, session.out);
  }
  if (document.options.pairs) {
    table::Table pairs = ulc_pairs_table(document.facts, document.profile);
    cut(pairs, document.options.top, "pairs of places");
    text += "\n" + table::render_text(pairs, session.out);
  }
  text += "\n" + table::render_text(remedies, session.out) + together_text(document);
  for (const auto& [line, locks] : refused_lines(document)) {
    text += table::printable(line, session.out.unicode) + (locks > 1 ? fmt::format(" ({} locks)\n", locks) : "\n");
  }
  return text;
}

table::Json json_of(const Document& document) {
  const analysis::UlcProfile& profile = document.profile;
  table::Json json = json_document("ulc");
  json["trace"] = trace_json_header(document.recordings.path, *document.facts.trace);
  json["counterparts"] = counterparts_json(document.recordings, document.facts);
  table::Json gaps = table::Json::object();
  for (size_t gap = 0; gap < profile.gaps.size(); ++gap) {
    gaps[std::string(model::kSetGapNames[static_cast<format::SetGap>(gap)])] = profile.gaps[gap];
  }
  const std::string missing = missing_text(document.facts.trace->loss);
  json["sections"] = {{"count", profile.sections}, {"sets", std::move(gaps)}, {"whole_run", missing.empty()}};
  json["duration_ns"] = profile.recorded_ns;
  json["conflicts_only_ns"] = profile.conflicts_ns;
  json["no_locks_ns"] = profile.no_locks_ns;
  json["cost_ns"] = profile.cost_ns;
  const whatif::BaselineCheck baseline = document.baseline.value_or(whatif::BaselineCheck());
  json["simulation_baseline"] = {{"recorded_ns", profile.recorded_ns}, {"simulated_ns", baseline.simulated_ns},
                                 {"retimed_ns", baseline.retimed_ns},  {"error", baseline.error},
                                 {"trusted", baseline.trusted},        {"notes", baseline.notes}};
  json["foreign_share"] = nullptr;
  if (const auto foreign = analysis::foreign_share(*document.facts.trace)) json["foreign_share"] = *foreign;
  json["sites"] = table::rows_json(ulc_sites_table(document.facts, profile, document.priced()));
  json["pairs"] = table::rows_json(ulc_pairs_table(document.facts, profile));
  json["conflicts"] = table::rows_json(ulc_conflicts_table(document.facts, conflicts_of(document)));
  json["remedies"] = table::rows_json(lock_remedies_table(document.facts, document.priced(), true));
  json["together"] = nullptr;
  if (const advise::SectionAdvices& advices = document.advices; !advices.together.empty()) {
    table::Json ranks = table::Json::array();
    for (const size_t index : advices.together) ranks.push_back(index + 1);
    const advise::Effect& effect = advices.together_effect;
    json["together"] = {{"ranks", std::move(ranks)},
                        {"free_order", nullptr},
                        {"recorded_order", effect.sections->recorded_order},
                        {"verdict", name_of(advise::verdict_of(effect, document.baseline))},
                        {"floor", nullptr}};
    if (ends_simulated(effect)) json["together"]["free_order"] = effect.simulated->gain;
    if (effect.sections->floor) json["together"]["floor"] = *effect.sections->floor;
  }
  json["refused"] = table::Json::array();
  for (const improve::Ineligible& refused : document.advices.ineligible) {
    json["refused"].push_back({{"what", name_of(refused.optimisation)},
                               {"lock", analysis::lock_name(*document.facts.trace, refused.lock)},
                               {"reason", refused.reason}});
  }
  json["not_priced"] = document.advices.not_priced;
  if (const std::string why = empty_reason(document.recordings, profile); !why.empty()) json["empty_reason"] = why;
  return json;
}

// Of the remedies that help; with --all, of those too whose gain is in doubt.
base::Status write_lock_specs(const Document& document, const Session& session) {
  const std::string& folder = document.options.specs;
  const improve::SpecTrace in{.trace = *document.facts.trace, .sections = &document.facts};
  std::vector<std::string> written, doubtful;
  for (size_t i = 0; i < document.advices.ranked.size(); ++i) {
    const advise::Advice& advice = document.advices.ranked[i];
    if (!gains(advice)) continue;
    const std::string_view verdict = name_of(advice.verdict);
    if (!helps(advice, document.baseline)) {
      doubtful.push_back(fmt::format("{} ({})", i + 1, verdict));
      if (!document.options.all) continue;
    }
    if (written.empty()) {
      if (base::Status made = make_folder(folder); !made) return made;
    }
    written.push_back(fmt::format("{:02}-{}.json", i + 1, name_of(advice.improvement().optimisation)));
    const improve::SpecEntry entry{advice.candidate, verdict};
    const std::string text = improve::write_spec(in, {&entry, 1});
    if (base::Status status = write_output(folder + "/" + written.back(), text); !status) return status;
  }
  tell_specs(session, folder, written,
             doubtful.empty() ? "no remedy gains more than its error"
                              : "what gains more than its error is in doubt (--all writes it)");
  if (!doubtful.empty()) {
    note(session, fmt::format("{} {}",
                              document.options.all ? "written all the same, though in doubt:"
                                                   : "in doubt, and only written with --all: remedy",
                              fmt::join(doubtful, ", ")));
  }
  return {};
}

int run(const Options& options, const Session& session) {
  const std::optional<Recordings> recordings = load_recordings(options.paths, session);
  if (!recordings) return kExitInput;
  const model::Trace& trace = recordings->trace;
  const model::Facts of_trace(trace);
  const analysis::SectionFacts facts = section_facts(*recordings, of_trace);
  const analysis::UlcProfile profile = analysis::ulc_profile(facts);
  advise::SectionAdvices advices;
  std::optional<whatif::BaselineCheck> baseline;
  const std::string no_sets = unsuitable(*recordings);
  if (const std::string why = empty_reason(*recordings, profile); why.empty()) {
    Progress progress(session, "pricing remedies");
    base::Result<std::vector<improve::Candidate>> apply =
        read_lock_specs({.trace = trace, .sections = &facts}, options.apply);
    if (!apply) return fail(kExitInput, apply.error().message);
    const advise::Pricer pricer(of_trace, &facts, {.cores = options.cores, .draws = options.seeds});
    baseline = pricer.baseline();
    advices = advise::advise_sections(pricer, {.apply = *std::move(apply), .progress = [&](size_t done, size_t total) {
                                                 progress.update(done, total);
                                               }});
  } else if (!options.apply.empty()) {
    return fail(kExitImpossible, recordings->path + ": " + why);
  }
  const Document document{options, *recordings, facts, profile, advices, baseline};
  if (!options.specs.empty() && no_sets.empty()) {
    if (base::Status written = write_lock_specs(document, session); !written) {
      return fail(kExitOutput, written.error().message);
    }
  }
  if (options.json || no_sets.empty()) {
    const base::Status printed =
        options.json ? print(table::json_text(json_of(document))) : print_text(session, text_of(document, session));
    if (!printed) return fail(kExitOutput, printed.error().message);
  }
  return no_sets.empty() ? kExitOk : fail(kExitImpossible, recordings->path + ": " + no_sets);
}

Run declare(OptionList& list) {
  auto options = std::make_shared<Options>();
  add_recording_arguments(list, options->paths);
  list.add_option("--top", options->top, "Sites, pairs and remedies to print").check(whole_number(1)).show_default();
  list.add_option("--cores", options->cores, "Cores of the simulated machine; default: the recorded one's")
      .check(whole_number(1));
  list.add_option("--seeds", options->seeds, "Simulations with drawn hand-overs for each interval; 0: no interval")
      .check(whole_number(0, 1000))
      .show_default();
  list.add_option("--specs", options->specs, "Write the specs of the remedies that help into this folder")
      .value_name("DIR");
  list.add_option("--apply", options->apply, "A remedy's spec: only these, and all of them together; repeatable")
      .value_name("FILE")
      .repeatable();
  list.add_flag("--pairs", options->pairs, "Also print which place's holding made which place wait");
  list.add_flag("--all", options->all, "Also print remedies that gain nothing, and what could not be judged");
  list.add_flag("--json", options->json, "Print JSON; everything");
  return [options](Session& session) { return run(*options, session); };
}

}  // namespace

const Command kUlcCommand{"ulc",
                          "Find waiting for locks that was unnecessary, and what removing it gains, by code site",
                          "contrafact ulc sets.cft\ncontrafact ulc run.cft sets.cft --pairs --all --top 50\n"
                          "contrafact ulc run.cft sets.cft --specs specs --json",
                          declare};

}  // namespace contrafact::cli
