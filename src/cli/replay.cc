#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <set>

#include "advise/missed_waits.h"
#include "analysis/cpu_use.h"
#include "base/file.h"
#include "base/middle.h"
#include "cli/commands.h"
#include "cli/exit_code.h"
#include "cli/json_document.h"
#include "cli/option_values.h"
#include "cli/output.h"
#include "cli/recordings.h"
#include "cli/replay_conflicts.h"
#include "cli/replay_edits.h"
#include "cli/replay_rows.h"
#include "cli/schedule_file.h"
#include "cli/trace_input.h"
#include "model/facts.h"
#include "replay/enforce/process.h"
#include "replay/plan/access_turns.h"
#include "replay/plan/plan.h"
#include "table/value_text.h"

namespace contrafact::cli {
namespace {

using replay::ProcessRun;
using replay::Strategy;

struct Options {
  RecordingPaths paths;
  ReplayEdits edits;
  std::vector<std::string> orders{"free", "recorded", "deterministic"};
  Option orders_given;
  std::string csv;
  uint32_t runs = 10;
  uint32_t cores = 0;
  double limit_s = 60;
  bool no_threads = false;
  bool json = false;
};

struct Order {
  std::string_view word;
  std::string_view title;
  Strategy strategy;
  bool turns = false;  // at shared memory, as recorded, beside the locks' order
};
constexpr Order kConflictsOrder{"conflicts", "replayed, without unnecessary order", Strategy::sections};
constexpr Order kOrders[] = {{"free", "replayed, free order", Strategy::free},
                             {"recorded", "replayed, recorded order (RLSC)", Strategy::recorded},
                             {"deterministic", "replayed, deterministic order", Strategy::deterministic},
                             {"accesses", "replayed, all shared accesses in order", Strategy::recorded, true},
                             kConflictsOrder};

// The parts of one order's replays.
struct Parts {
  std::string method;
  std::vector<ProcessRun> runs;     // unchanged
  std::vector<ProcessRun> changed;  // each after the one of the same number
};

struct Outcome {
  int64_t recorded_ns = 0;
  std::optional<RecorderShare> recorder_share;
  whatif::BaselineCheck baseline;
  std::vector<MethodRuns> methods;
  std::vector<Parts> parts;
  std::optional<replay::SharedAccesses> accesses;
  std::optional<ConflictReplays> conflicts;
  std::optional<table::Table> sites;  // of the replays by conflicts
  std::vector<std::string> notes;     // of the simulation
  std::vector<std::string> replay_notes;
};

// ---- Simulation

void add_new(const std::vector<std::string>& notes, std::vector<std::string>& to) {
  for (const std::string& note : notes)
    if (std::ranges::find(to, note) == to.end()) to.push_back(note);
}

// Simulates pairs of runs by one rule: as recorded and changed, with the same hand-overs. Adds to the outcome.
base::Status simulate_pairs(const model::Trace& trace, const whatif::Simulator& simulator,
                            const whatif::Variant& variant, whatif::LockRule rule, const Options& options,
                            std::string method, Outcome& outcome) {
  MethodRuns runs{.method = std::move(method), .origin = "simulated"};
  const advise::WaitingRun recorded = advise::recorded_run(trace, simulator.sections());
  std::vector<double> missed;
  // Seed 0 has typical hand-overs, the other seeds draw them from the recording.
  for (uint32_t seed = 1; seed <= options.runs; ++seed) {
    const whatif::SimulateOptions simulate{.cores = options.cores, .lock_rule = rule, .seed = seed};
    const auto one = [&](const whatif::Variant& made) -> base::Result<advise::WaitingRun> {
      const base::Result<whatif::Simulation> run = simulator.simulate(made, simulate);
      if (!run) return run.error();
      if (!run->stuck.empty()) runs.impossible = "the simulated program hangs: " + run->stuck.front().reason;
      if (seed == 1) add_new(run->notes, outcome.notes);
      return advise::simulated_run(trace, *run);
    };
    const base::Result<advise::WaitingRun> before = one({});
    if (!before) return before.error();
    runs.before_ns.push_back(before->duration_ns);
    if (variant.changes_nothing()) continue;
    const base::Result<advise::WaitingRun> after = one(variant);
    if (!after) return after.error();
    runs.after_ns.push_back(after->duration_ns);
    const int64_t missed_ns = advise::missed_ns(recorded, *before);
    missed.push_back(static_cast<double>(missed_ns) / static_cast<double>(std::max<int64_t>(recorded.duration_ns, 1)));
    runs.gains.push_back(advise::gain_with_missed(*before, missed_ns, *after));
  }
  if (!missed.empty()) runs.missed = base::median(std::span(missed));
  outcome.methods.push_back(std::move(runs));
  return {};
}

base::Status simulate(const model::Trace& trace, const whatif::Simulator& simulator, const whatif::Variant& variant,
                      const Options& options, Outcome& outcome) {
  MethodRuns retimed{.method = "re-timed, recorded order", .origin = "re-timed"};
  retimed.before_ns.push_back(simulator.retime_sections({}));
  if (!variant.changes_locks_alone()) {
    outcome.replay_notes.push_back(retimed.method +
                                   ": not computed for this change: re-timing knows changes of locks alone");
  } else if (!trace.tasks.empty() && !variant.edits.empty()) {
    outcome.replay_notes.push_back(retimed.method +
                                   ": not computed for this recording: re-timing does not know waits for tasks");
  } else if (!variant.edits.empty()) {
    retimed.after_ns.push_back(simulator.retime_sections(variant.edits));
  }
  outcome.methods.push_back(std::move(retimed));
  for (const auto& [method, rule] : {std::pair{"simulated, free order", whatif::LockRule::barging},
                                     std::pair{"simulated, recorded order", whatif::LockRule::recorded}}) {
    if (base::Status status = simulate_pairs(trace, simulator, variant, rule, options, method, outcome); !status)
      return status;
  }
  return {};
}

// ---- Replay

base::Result<std::unique_ptr<ScheduleFile>> planned(const whatif::Simulator& simulator,
                                                    const whatif::Variant& variant) {
  base::Result<replay::Schedule> schedule = replay::plan_schedule(simulator, variant);
  if (!schedule) return schedule.error();
  return ScheduleFile::create(*schedule);
}

double foreign_share(const Parts& parts) {
  double sum = 0;
  for (const ProcessRun& run : parts.runs) sum += run.foreign_share;
  return parts.runs.empty() ? 0 : sum / static_cast<double>(parts.runs.size());
}

// Where the change is of the number of cores, the unchanged run has to have those of the recording.
void choose_cores(uint32_t recorded, uint32_t changed, Plans& plans) {
  const uint32_t there = replay::cores_to_use();
  const uint32_t needed = std::max(recorded, changed);
  if (recorded == 0) {
    plans.impossible = "the recording does not say how many cores it had";
  } else if (needed > there) {
    plans.impossible = fmt::format("it needs {} cores to run on, unchanged or changed, and {} there", needed,
                                   table::counted_text(there, "core is", "cores are"));
  }
  plans.cores_before = recorded;
  plans.cores_after = changed;
}

base::Result<Plans> plans_for(const model::Trace& trace, const whatif::Simulator& simulator,
                              const whatif::Variant& variant) {
  Plans plans;
  auto before = planned(simulator, {});
  if (!before) return before.error();
  plans.before = std::move(*before);
  if (variant.changes_nothing()) return plans;
  if (variant.cores > 0) choose_cores(model::recorded_cores(trace), variant.cores, plans);
  auto after = planned(simulator, variant);
  if (after) {
    plans.after = std::move(*after);
  } else {
    plans.impossible = "changed: " + after.error().message;
  }
  return plans;
}

// The same with turns at shared memory: the edits are for other numbers of sections then.
base::Result<Plans> plans_with_turns(const model::Trace& trace, const Options& options, Outcome& outcome) {
  if (!options.edits.specs.empty()) return base::Error{"with accesses in order, changes are taken by --edit alone"};
  replay::SharedAccesses facts;
  const base::Result<model::Trace> with_turns = replay::with_access_turns(trace, facts);
  if (!with_turns) return with_turns.error();
  outcome.accesses = facts;
  const whatif::Simulator simulator(*with_turns);
  const base::Result<whatif::Variant> variant = variant_of_rules(options.edits.rules, *with_turns, simulator);
  if (!variant) return variant.error();
  return plans_for(*with_turns, simulator, *variant);
}

// Unchanged and changed take turns, so that a slow spell of the machine meets both.
void replay_order(const Order& order, const Plans& plans, const Options& options, MethodRuns& runs, Parts& parts) {
  runs.impossible = plans.impossible;
  if (!runs.impossible.empty()) return;
  for (uint32_t i = 0; i < options.runs; ++i) {
    const auto first =
        replay::enforce_in_process(plans.before->path(), order.strategy, options.limit_s, plans.cores_before);
    if (!first) {
      runs.impossible = first.error().message;
      return;
    }
    parts.runs.push_back(*first);
    runs.before_ns.push_back(first->result.run_ns);
    if (!plans.after) continue;
    const auto second =
        replay::enforce_in_process(plans.after->path(), order.strategy, options.limit_s, plans.cores_after);
    if (!second) {
      runs.impossible = "changed: " + second.error().message;
      return;
    }
    parts.changed.push_back(*second);
    runs.after_ns.push_back(second->result.run_ns);
  }
}

// The paper's step 3.
void replay_conflicts(const Recordings& recordings, const whatif::Simulator& simulator, const Options& options,
                      Outcome& outcome, MethodRuns& runs, Parts& parts) {
  base::Result<ConflictReplays> conflicts = plan_conflict_replays(recordings, simulator);
  if (!conflicts) {
    runs.impossible = conflicts.error().message;
    return;
  }
  outcome.conflicts = std::move(*conflicts);
  outcome.methods.push_back(outcome.conflicts->retimed);
  replay_order(kConflictsOrder, outcome.conflicts->plans, options, runs, parts);
  outcome.sites = replay_sites_table(*outcome.conflicts, parts.runs, parts.changed);
}

base::Status replay_all(const Recordings& recordings, const whatif::Simulator& simulator,
                        const whatif::Variant& variant, const Options& options, Outcome& outcome) {
  const base::Result<Plans> plans = plans_for(recordings.trace, simulator, variant);
  if (!plans) return plans.error();
  for (const Order& order : kOrders) {
    if (std::ranges::find(options.orders, order.word) == options.orders.end()) continue;
    MethodRuns runs{.method = std::string(order.title), .origin = "replayed"};
    Parts parts{.method = std::string(order.title), .runs = {}};
    if (order.turns) {
      const base::Result<Plans> with_turns = plans_with_turns(recordings.trace, options, outcome);
      if (with_turns) {
        replay_order(order, *with_turns, options, runs, parts);
      } else {
        runs.impossible = with_turns.error().message;
      }
    } else if (order.strategy == Strategy::sections) {
      replay_conflicts(recordings, simulator, options, outcome, runs, parts);
    } else {
      replay_order(order, *plans, options, runs, parts);
    }
    runs.foreign_share = foreign_share(parts);
    uint64_t waits_left = 0;
    for (const ProcessRun& run : parts.runs) waits_left = std::max(waits_left, run.result.waits_left);
    if (waits_left > 0) {
      outcome.replay_notes.push_back(fmt::format(
          "{}: up to {} left before what ended {} in the recording: nothing else could happen any more", order.title,
          table::counted_text(waits_left, "wait was", "waits were"), waits_left == 1 ? "it" : "them"));
    }
    if (!parts.runs.empty()) outcome.parts.push_back(std::move(parts));
    outcome.methods.push_back(std::move(runs));
  }
  return {};
}

// ---- Output

template <typename Value>
int64_t median_of(const Parts& parts, Value value) {
  std::vector<int64_t> all;
  for (const ProcessRun& run : parts.runs) all.push_back(static_cast<int64_t>(value(run)));
  const auto middle = all.begin() + static_cast<int64_t>((all.size() - 1) / 2);
  std::nth_element(all.begin(), middle, all.end());
  return *middle;
}

// Warnings of what the rows' figures suffer from.
void add_warnings(const model::Trace& trace, const Outcome& outcome, table::Table& table) {
  for (const MethodRuns& runs : outcome.methods) {
    if (runs.origin == "replayed" || !runs.impossible.empty() || runs.before_ns.empty()) continue;
    const double error = row_of(runs, outcome.recorded_ns).error;
    if (runs.origin == "re-timed" && std::abs(error) > 0.02) {
      table.add_note(fmt::format(
          "warning: re-timed, the unchanged run is {} off: the trace does not explain its own waits, and no "
          "figure above is to be trusted",
          table::percent_text(error)));
    } else if (runs.origin == "simulated" && std::abs(error) > 0.03) {
      table.add_note(
          fmt::format("warning: {}: the unchanged run is {} off (aim: 3 %)", runs.method, table::percent_text(error)));
    }
    if (runs.missed != 0) {
      table.add_note(
          fmt::format("{}: of the unchanged run's error, {} is waiting for locks that the simulation lacks; the gain "
                      "has the part of that waiting that the change removes",
                      runs.method, table::percent_text(-runs.missed)));
    }
  }
  if (const std::string foreign = foreign_text(trace); !foreign.empty())
    table.add_note(foreign.substr(0, foreign.size() - 1));
  for (const MethodRuns& runs : outcome.methods) {
    if (runs.foreign_share < kForeignShareNoted) continue;
    table.add_note(
        fmt::format("warning: {}: other programs used {:.0f} % of the cores meanwhile; the simulation knows "
                    "nothing of them",
                    runs.method, 100 * runs.foreign_share));
  }
  if (!outcome.recorder_share) {
    table.add_note(
        "warning: with every access or every section observed (--accesses, --sets=always) the program's code ran "
        "translated, several times slower than alone: the times are those of that run");
  }
  for (const MethodRuns& runs : outcome.methods) {
    if (runs.method != kConflictsOrder.title || !runs.impossible.empty() || runs.after_ns.empty()) continue;
    const MethodRow row = row_of(runs, outcome.recorded_ns);
    if (std::abs(row.error) + row.spread / 2 < std::abs(*row.gain)) continue;
    table.add_note(fmt::format(
        "warning: {}: the replay in recorded order is {} off and spreads by {}, the gain is {}: no "
        "reason to believe it",
        runs.method, table::percent_text(row.error), table::percent_text(row.spread), table::percent_text(*row.gain)));
  }
  if (outcome.accesses && outcome.accesses->lost + outcome.accesses->gaps > 0) {
    table.add_note(fmt::format("warning: accesses are missing, {} lost and others at {}: their order is not kept",
                               table::count_text(static_cast<int64_t>(outcome.accesses->lost)),
                               table::counted_text(outcome.accesses->gaps, "place", "places")));
  }
}

// How the recorder's part is known.
std::string source_text(const RecorderShare& share) {
  if (share.measured == 0) return "estimated";
  if (share.estimated == 0) return "measured";
  return fmt::format("measured but for {:.2g} % of it", 100 * share.estimated / share.all());
}

// What else there is to know; nothing with --quiet.
void add_notes(const Outcome& outcome, table::Table& table) {
  if (outcome.recorder_share) {
    table.add_note(fmt::format("the recorder's own part of the threads' time: about {:.2g} % ({})",
                               100 * outcome.recorder_share->all(), source_text(*outcome.recorder_share)));
  }
  for (const std::string& note : outcome.notes) table.add_note("note (simulation): " + note);
  if (outcome.conflicts) table.add_note(conflicts_text(*outcome.conflicts));
  if (outcome.accesses) {
    const replay::SharedAccesses& facts = *outcome.accesses;
    const auto count = [](uint64_t n) { return table::count_text(static_cast<int64_t>(n)); };
    table.add_note(fmt::format("shared accesses: {} of {} recorded ones, to {}, in {}", count(facts.shared),
                               count(facts.accesses), table::bytes_text(static_cast<double>(facts.shared_bytes)),
                               table::counted_text(facts.turns, "turn", "turns")));
  }
  for (const std::string& note : outcome.replay_notes) table.add_note("note: " + note);
}

table::Table methods_table(const model::Trace& trace, const Outcome& outcome) {
  table::Table table(kReplaySchema);
  table.add_row({"recorded", std::string(name_of(trace.origin)), outcome.recorded_ns, {}, {}, {}, {}, {}});
  for (const MethodRuns& runs : outcome.methods) {
    if (!runs.impossible.empty() || runs.before_ns.empty()) {
      table.add_row({runs.method, runs.origin, {}, {}, {}, {}, {}, "not done"});
      table.add_note(runs.method + ": " + runs.impossible);
      continue;
    }
    const MethodRow row = row_of(runs, outcome.recorded_ns);
    table.add_row({row.method, row.origin, row.before_ns, row.error, row.spread,
                   row.after_ns ? table::Cell(*row.after_ns) : table::Cell(),
                   row.gain ? table::Cell(*row.gain) : table::Cell(),
                   row.verdict.empty() ? table::Cell() : table::Cell(row.verdict)});
  }
  return table;
}

table::Table parts_table(const Outcome& outcome) {
  table::Table table(kReplayPartsSchema);
  for (const Parts& parts : outcome.parts) {
    std::set<uint64_t> orders;
    for (const ProcessRun& run : parts.runs) orders.insert(run.result.order_digest);
    table.add_row({parts.method, median_of(parts, [](const ProcessRun& r) { return r.result.read_ns; }),
                   median_of(parts, [](const ProcessRun& r) { return r.result.decode_ns; }),
                   median_of(parts, [](const ProcessRun& r) { return r.result.run_ns; }),
                   median_of(parts, [](const ProcessRun& r) { return r.result.file_bytes; }),
                   median_of(parts, [](const ProcessRun& r) { return r.result.out_of_order; }),
                   orders.contains(0) ? table::Cell() : table::Cell(static_cast<int64_t>(orders.size())),
                   foreign_share(parts)});
  }
  return table;
}

// Every single run, for figure 8 of the paper: stability and length by strategy.
std::string csv_of(const Outcome& outcome) {
  std::string text = "method,origin,variant,run,duration_ns\n";
  text += fmt::format("recorded,measured,unchanged,0,{}\n", outcome.recorded_ns);
  for (const MethodRuns& runs : outcome.methods) {
    for (const auto& [variant, durations] :
         {std::pair{"unchanged", &runs.before_ns}, std::pair{"changed", &runs.after_ns}}) {
      for (size_t i = 0; i < durations->size(); ++i)
        text += fmt::format("\"{}\",{},{},{},{}\n", runs.method, runs.origin, variant, i, (*durations)[i]);
    }
  }
  return text;
}

std::string json_of(const Options& options, const Recordings& recordings, const Outcome& outcome) {
  const model::Trace& trace = recordings.trace;
  table::Json document = json_document("replay");
  document["trace"] = trace_json_header(recordings.path, trace);
  document["recorded_ns"] = outcome.recorded_ns;
  document["edits"] = options.edits.rules;
  document["applied"] = options.edits.specs;
  document["runs"] = options.runs;
  document["recorder_share"] = nullptr;
  document["recorder_share_estimated"] = nullptr;
  if (const auto& share = outcome.recorder_share) {
    document["recorder_share"] = share->all();
    document["recorder_share_estimated"] = share->estimated;
  }
  document["foreign_share"] = nullptr;
  if (const auto foreign = analysis::foreign_share(trace)) document["foreign_share"] = *foreign;
  document["retimed_error"] = outcome.baseline.retimed_error;
  document["simulated_error"] = outcome.baseline.error;
  document["methods"] = table::rows_json(methods_table(trace, outcome));
  document["parts"] = table::rows_json(parts_table(outcome));
  document["sites"] = outcome.sites ? table::rows_json(*outcome.sites) : table::Json::array();
  document["not_done"] = table::Json::object();
  for (const MethodRuns& runs : outcome.methods) {
    if (!runs.impossible.empty()) document["not_done"][runs.method] = runs.impossible;
  }
  if (outcome.accesses) {
    document["shared_accesses"] = {{"accesses", outcome.accesses->accesses},
                                   {"shared", outcome.accesses->shared},
                                   {"shared_bytes", outcome.accesses->shared_bytes},
                                   {"turns", outcome.accesses->turns},
                                   {"gaps", outcome.accesses->gaps},
                                   {"lost", outcome.accesses->lost}};
  }
  document["notes"] = outcome.notes;
  document["replay_notes"] = outcome.replay_notes;
  return table::json_text(document);
}

// Chooses the orders to replay if none is given: also the order that conflicts need, if a recording shows what
// conflicts.
void choose_orders(Options& options, const Recordings& recordings) {
  if (options.orders_given.given() || options.edits.any() || !recordings.has_sets()) return;
  options.orders.emplace_back("conflicts");
}

int run(const Options& given, const Session& session) {
  Options options = given;
  if (options.no_threads && options.orders_given.given()) {
    return fail(kExitUsage, "--order is of replays by real threads, and --no-threads makes none: give one of the two");
  }
  const auto wants = [&](std::string_view order) {
    return std::ranges::find(options.orders, order) != options.orders.end();
  };
  if (wants("conflicts") && options.edits.any()) {
    return fail(kExitUsage, "--order conflicts is of the program as it is, without --edit and --apply");
  }
  const bool wants_accesses = wants("accesses");
  const std::optional<Recordings> recordings =
      load_recordings(options.paths, session, {}, {.access_log = wants_accesses && !options.no_threads});
  if (!recordings) return kExitInput;
  choose_orders(options, *recordings);
  const model::Trace& trace = recordings->trace;
  const std::string& path = recordings->path;
  for (const std::string& spec : options.edits.specs) protect_input(spec);
  if (trace.fact("agent") != "native" && !model::has_lock_events(trace)) {
    return fail(kExitImpossible,
                path + (trace.fact("jvm.name").empty()
                            ? ": it has no locks, and those are replayed"
                            : ": of a JVM's locks it has waits alone; contrafact record --classes-from " + path +
                                  " records what an edit needs"));
  }
  if (!options.csv.empty()) {  // before a replay that may take minutes
    if (base::Status status = check_writable(options.csv, 0); !status) return fail(kExitOutput, status.error().message);
  }
  const bool only_accesses = std::ranges::all_of(options.orders, [](const auto& order) { return order == "accesses"; });
  if (wants_accesses && only_accesses && !options.no_threads) {
    if (base::Status status = replay::check_access_log(trace); !status)
      return fail(kExitImpossible, path + ": " + status.error().message);
  }
  const whatif::Simulator simulator(trace);
  base::Result<whatif::Variant> variant = variant_for(options.edits, *recordings, simulator);
  if (!variant) {
    const bool of_rules = variant.error().message.starts_with("--edit");
    return fail(of_rules ? kExitUsage : kExitInput, variant.error().message);
  }
  base::Result<whatif::BaselineCheck> baseline = simulator.check_baseline({.cores = options.cores});
  if (!baseline) return fail(kExitImpossible, path + ": " + baseline.error().message);
  Outcome outcome{.recorded_ns = baseline->recorded_ns,
                  .recorder_share = recorder_share(*recordings, baseline->recorded_ns),
                  .baseline = *baseline};
  const double recorded_s = static_cast<double>(outcome.recorded_ns) / 1e9;
  if (!options.no_threads && recorded_s > options.limit_s) {
    return fail(kExitImpossible, fmt::format("{}: {:.0f} s were recorded, and a replay is ended after {:g} s: --limit "
                                             "allows more, --no-threads only computes",
                                             path, recorded_s, options.limit_s));
  }
  if (base::Status status = simulate(trace, simulator, *variant, options, outcome); !status)
    return fail(kExitImpossible, path + ": " + status.error().message);
  if (!options.no_threads) {
    if (base::Status status = replay_all(*recordings, simulator, *variant, options, outcome); !status)
      return fail(kExitImpossible, path + ": " + status.error().message);
  }
  if (!options.csv.empty()) {
    if (base::Status status = write_output(options.csv, csv_of(outcome)); !status)
      return fail(kExitOutput, status.error().message);
    tell_written(session, options.csv);
  }
  std::string text;
  if (options.json) {
    text = json_of(options, *recordings, outcome);
  } else {
    table::Table methods = methods_table(trace, outcome);
    add_warnings(trace, outcome, methods);
    if (!session.quiet) add_notes(outcome, methods);
    text = table::render_text(methods, session.out);
    if (outcome.sites) text += "\n" + table::render_text(*outcome.sites, session.out);
    if (!outcome.parts.empty()) text += "\n" + table::render_text(parts_table(outcome), session.out);
  }
  base::Status printed = options.json ? print(text) : print_text(session, text);
  return printed.ok() ? kExitOk : fail(kExitOutput, printed.error().message);
}

Run declare(OptionList& list) {
  auto options = std::make_shared<Options>();
  add_recording_arguments(list, options->paths);
  list.add_option("--edit", options->edits.rules,
                  "Change critical sections: lock=NAME and, behind commas, any of site=TEXT, as=NAME, also=NAME, "
                  "mode=exclusive|shared|none, head=80%, tail=20us; after all specs; repeatable")
      .value_name("CHANGE")
      .repeatable();
  list.add_option("--apply", options->edits.specs,
                  "Change locks and cores as improvement specs say, simulated also tasks and pools; repeatable")
      .value_name("FILE")
      .repeatable();
  options->orders_given =
      list.add_option(
              "--order", options->orders,
              "Orders to replay: free, recorded (RLSC), deterministic: of locks; accesses: of all accesses "
              "to shared memory, which record --accesses records; conflicts: of critical sections, as recorded and as "
              "far "
              "as what they touch needs it, which record --sets records; repeatable")
          .check(one_of({"free", "recorded", "deterministic", "accesses", "conflicts"}))
          .repeatable();
  list.add_option("--runs", options->runs, "How often each is replayed, and simulated")
      .check(whole_number(1, 1000))
      .show_default();
  list.add_option("--limit", options->limit_s, "Seconds that one replay may take")
      .value_name("SECONDS")
      .check(decimal_number(0.1))
      .show_default();
  list.add_option("--cores", options->cores, "Cores to simulate; default: the recorded machine's")
      .check(whole_number(1));
  list.add_flag("--no-threads", options->no_threads, "Compute only: re-time and simulate");
  list.add_option("--csv", options->csv, "Write every single run's duration to this file").value_name("FILE");
  list.add_flag("--json", options->json, "Print JSON");
  return [options](Session& session) { return run(*options, session); };
}

}  // namespace

const Command kReplayCommand{"replay",
                             "Run a recorded native program's threads and locks again, also with locks changed",
                             "contrafact replay run.cft\n"
                             "contrafact replay run.cft sets.cft --order conflicts\n"
                             "contrafact replay run.cft sets.cft --apply specs/01-split-lock.json",
                             declare};

}  // namespace contrafact::cli
