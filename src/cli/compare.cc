#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <filesystem>
#include <memory>
#include <optional>

#include "cli/commands.h"
#include "cli/exit_code.h"
#include "cli/json_document.h"
#include "cli/metric_tables.h"
#include "cli/nearest.h"
#include "cli/output.h"
#include "cli/profile_input.h"
#include "cli/progress.h"
#include "cli/schemas.h"
#include "cli/spec_effect.h"
#include "cli/spec_input.h"
#include "cli/trace_input.h"
#include "cli/window_option.h"
#include "model/facts.h"
#include "table/value_text.h"
#include "whatif/simulate.h"

namespace contrafact::cli {
namespace {

using table::Cell;
using table::Type;
using table::Unit;

struct Options {
  std::vector<std::string> paths;
  std::vector<std::string> specs;
  std::string window = "run";
  std::string plot;
  std::string svg;
  std::vector<std::string> metrics;
  bool json = false;
};

struct Compared {
  std::string path;
  model::Trace trace;
  analysis::ThreadUsage usage;
  std::vector<analysis::Metric> metrics;
};

// The metrics to print by default, but for those that are zero in every run; --metrics names others, --json has all.
const std::vector<std::string> kShown{"duration",      "peak_occupied",  "mean_occupied",  "peak_active",
                                      "mean_active",   "peak_waiting",   "mean_waiting",   "mean_unoccupied",
                                      "waiting_share", "copies_by_peak", "copies_by_mean", "utilisation",
                                      "queue_peak",    "tasks_run",      "waits"};

std::vector<std::string> all_metrics() {
  std::vector<std::string> names;
  for (const auto& spec : analysis::metric_specs()) names.emplace_back(spec.name);
  return names;
}

std::string unknown_metric(const std::vector<std::string>& names) {
  for (const std::string& name : names) {
    if (std::ranges::none_of(analysis::metric_specs(), [&](const auto& spec) { return spec.name == name; }))
      return name;
  }
  return {};
}

Cell relative(double value, double base) {
  if (base == 0) return value == 0 ? Cell(0.0) : Cell();
  return (value - base) / std::fabs(base);
}

bool is_nothing(const std::vector<Compared>& runs, size_t metric) {
  return std::ranges::all_of(runs, [&](const Compared& run) { return run.metrics[metric].value == 0; });
}

// Without `named`, the metrics that are printed by default.
table::Table side_by_side(const std::vector<Compared>& runs, const std::vector<std::string>& named) {
  bool three = runs.size() == 3;
  table::Table table(three ? kCompareThreeSchema : kCompareTwoSchema);
  const std::vector<std::string>& shown = named.empty() ? kShown : named;
  for (size_t m = 0; m < runs[0].metrics.size(); ++m) {
    std::string name(runs[0].metrics[m].spec->name);
    if (std::ranges::find(shown, name) == shown.end() || (named.empty() && is_nothing(runs, m))) continue;
    double a = runs[0].metrics[m].value, b = runs[1].metrics[m].value;
    std::vector<Cell> row{name, std::string(runs[0].metrics[m].spec->unit), a, b, relative(b, a)};
    if (three) {
      double c = runs[2].metrics[m].value;
      row.insert(row.end(), {c, relative(c, a), relative(b, c)});
    }
    table.add_row(std::move(row));
  }
  return table;
}

std::string name_of_run(size_t index, const model::Trace& trace) {
  if (index == 0) return "base";
  if (trace.origin == model::Origin::estimated) return "estimate";
  if (trace.origin == model::Origin::simulated) return "simulation";
  return index == 2 ? "actual" : "changed";
}

report::ProfilePage page_of(const std::vector<Compared>& runs, const table::Table& metrics) {
  report::ProfilePage page{.title = "Concurrency profile"};
  std::string command(runs[0].trace.fact("command"));
  page.subtitle = command.empty() ? runs[0].path : command;
  for (size_t i = 0; i < runs.size(); ++i) {
    page.runs.push_back(run_profile(name_of_run(i, runs[i].trace), runs[i].path, runs[i].trace, runs[i].usage));
  }
  std::string heading = "Metrics side by side: ";
  for (size_t i = 0; i < runs.size(); ++i) {
    heading += fmt::format("{}{} is {}", i == 0 ? "" : ", ", static_cast<char>('A' + i), page.runs[i].name);
  }
  page.tables.push_back({heading, &metrics});
  return page;
}

std::string legend(const std::vector<Compared>& runs) {
  std::string out;
  for (size_t i = 0; i < runs.size(); ++i) {
    out += fmt::format("{}: {} ({})\n", static_cast<char>('A' + i), runs[i].path, name_of(runs[i].trace.origin));
  }
  return out;
}

// For a simulated run: how far the simulation of the unchanged run is from the recorded run.
std::optional<double> baseline_error(const model::Trace& trace) {
  const std::string_view text = trace.fact(whatif::kBaselineErrorFact);
  double error = 0;
  const auto [end, failed] = std::from_chars(text.data(), text.data() + text.size(), error);
  if (text.empty() || failed != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return error;
}

// An error below this rounds to nothing.
constexpr double kErrorShown = 0.0005;

// A simulated run beside one that is not: a part of the difference is the simulation's own.
std::string warnings(const std::vector<Compared>& runs) {
  const auto is_simulated = [](const Compared& run) { return run.trace.origin == model::Origin::simulated; };
  if (std::ranges::all_of(runs, is_simulated)) return "";
  std::string out;
  for (size_t i = 0; i < runs.size(); ++i) {
    if (!is_simulated(runs[i])) continue;
    const std::optional<double> error = baseline_error(runs[i].trace);
    if (error && std::fabs(*error) < kErrorShown) continue;
    const char name = static_cast<char>('A' + i);
    out += error ? fmt::format(
                       "warning: {} is simulated; simulated without any change, the run is {} off the recorded "
                       "one: so much of a difference in duration may be the simulation's own\n",
                       name, table::percent_text(*error))
                 : fmt::format(
                       "warning: {} is simulated, and does not say how far off the simulation is without any "
                       "change\n",
                       name);
  }
  return out;
}

table::Json document_of(const std::vector<Compared>& runs, const Options& options) {
  table::Json document = json_document("compare");
  document["window"] = options.window;
  document["runs"] = table::Json::array();
  for (size_t i = 0; i < runs.size(); ++i) {
    table::Json run = trace_json_header(runs[i].path, runs[i].trace);
    run["name"] = name_of_run(i, runs[i].trace);
    run["duration_ns"] = runs[i].usage.window.duration_ns();
    if (runs[i].trace.origin == model::Origin::simulated) {
      const std::optional<double> error = baseline_error(runs[i].trace);
      run["baseline_error"] = error ? table::Json(*error) : table::Json(nullptr);
    }
    document["runs"].push_back(std::move(run));
  }
  document["metrics"] = table::rows_json(side_by_side(runs, all_metrics()));
  return document;
}

int write_pictures(const std::vector<Compared>& runs, const table::Table& metrics, const Options& options,
                   const Session& session) {
  report::ProfilePage page = page_of(runs, metrics);
  if (!options.plot.empty()) {
    base::Status written = write_output(options.plot, report::profile_page(page));
    if (!written) return fail(kExitOutput, written.error().message);
    tell_written(session, options.plot);
  }
  if (!options.svg.empty()) {
    base::Status written = write_output(options.svg, report::profile_svg(page.title + ": " + page.subtitle, page.runs));
    if (!written) return fail(kExitOutput, written.error().message);
    tell_written(session, options.svg);
  }
  return kExitOk;
}

Compared measured(const std::string& path, model::Trace trace, const Options& options) {
  Compared run{.path = path, .trace = std::move(trace)};
  run.usage = analysis::thread_usage(run.trace, {window_of(options.window)});
  run.metrics = analysis::run_metrics(run.trace, run.usage);
  return run;
}

// The run of `base` with the specs' improvements made. None: the error has been printed, and `failed` is the status to
// end with.
std::optional<model::Trace> changed(const Compared& base, const Options& options, const Session& session, int& failed) {
  const auto impossible = [&](const base::Error& error) {
    failed = fail(kExitImpossible, fmt::format("{}: {}", base.path, error.message));
    return std::nullopt;
  };
  Progress progress(session, "estimating");
  const model::Facts facts(base.trace);
  std::optional<analysis::SectionFacts> sections;
  if (model::has_lock_events(base.trace) && !base.trace.access_sets.empty()) sections.emplace(facts);
  base::Result<SpecEngines> engines = SpecEngines::create(facts, std::move(sections));
  if (!engines) return impossible(engines.error());
  const base::Result<std::vector<improve::Candidate>> applied = read_spec_files(engines->specs(), options.specs);
  if (!applied) {
    failed = fail(kExitInput, applied.error().message);
    return std::nullopt;
  }
  base::Result<SpecEffect> made = std::move(*engines).make(improvements_of(*applied), {.trace = true});
  if (!made) return impossible(made.error());
  return made->simulated ? *std::move(made->simulated) : *std::move(made->effect.estimate.trace);
}

int run(const Options& options, const Session& session) {
  const size_t count = options.paths.size() + (options.specs.empty() ? 0 : 1);
  if (count < 2) return fail(kExitUsage, "compare: give a second run, or --apply SPEC for the one that it makes");
  if (count > 3) return fail(kExitUsage, "compare: three runs at most, with the one that --apply makes");
  if (const std::string unknown = unknown_metric(options.metrics); !unknown.empty()) {
    std::vector<std::string_view> known;
    for (const auto& spec : analysis::metric_specs()) known.push_back(spec.name);
    return fail(kExitUsage, fmt::format("--metrics: there is no metric '{}'; contrafact metrics lists them{}", unknown,
                                        did_you_mean(unknown, known)));
  }
  std::vector<Compared> runs;
  for (const std::string& path : options.paths) {
    std::optional<model::Trace> trace = load_trace(path, session);
    if (!trace) return kExitInput;
    runs.push_back(measured(path, *std::move(trace), options));
  }
  if (!options.specs.empty()) {
    for (const std::string& spec : options.specs) protect_input(spec);
    int failed = kExitOk;
    std::optional<model::Trace> trace = changed(runs[0], options, session, failed);
    if (!trace) return failed;
    const std::string name = fmt::format("{} with {}", runs[0].path, fmt::join(options.specs, ", "));
    runs.insert(runs.begin() + 1, measured(name, *std::move(trace), options));
  }
  table::Table table = side_by_side(runs, options.metrics);
  std::string text = options.json ? table::json_text(document_of(runs, options))
                                  : legend(runs) + warnings(runs) + "\n" + table::render_text(table, session.out);
  if (int failed = write_pictures(runs, table, options, session); failed != kExitOk) return failed;
  base::Status printed = options.json ? print(text) : print_text(session, text);
  return printed.ok() ? kExitOk : fail(kExitOutput, printed.error().message);
}

Run declare(OptionList& list) {
  auto options = std::make_shared<Options>();
  list.add_option("trace", options->paths, "Two or three runs: base, estimated, actual; with --apply one less")
      .value_name("FILE")
      .required()
      .number_of_values(1, 3);
  list.add_option("--apply", options->specs, "An improvement spec; the base with all of them made is the second run")
      .value_name("FILE")
      .repeatable();
  list.add_option("--plot", options->plot, "Write the concurrency profiles as a page for a browser").value_name("FILE");
  list.add_option("--svg", options->svg, "Write the concurrency profiles as a still picture").value_name("FILE");
  list.add_option("--metrics", options->metrics, "Metric to print; repeatable").value_name("NAME").repeatable();
  add_window_option(list, options->window);
  list.add_flag("--json", options->json, "Print JSON; every metric");
  return [options](Session& session) { return run(*options, session); };
}

std::vector<table::Column> columns(bool three) {
  std::vector<table::Column> list{
      {"metric", "metric", Type::text, Unit::none, "The metric; contrafact metrics says what each is."},
      {"unit", "unit", Type::text, Unit::none, "s, threads, tasks, copies, or nothing for a share."},
      {"a", "A", Type::number, Unit::none, "Of the first run, the base."},
      {"b", "B", Type::number, Unit::none, "Of the second run, e.g. the estimate."},
      {"b_to_a", "B to A", Type::ratio, Unit::ratio, "How much B is above (or, negative, below) A."}};
  if (three) {
    list.push_back({"c", "C", Type::number, Unit::none, "Of the third run, e.g. the program really changed."});
    list.push_back({"c_to_a", "C to A", Type::ratio, Unit::ratio, "How much C is above A."});
    list.push_back({"b_to_c", "B to C", Type::ratio, Unit::ratio, "How much B is above C: the estimate's error."});
  }
  return list;
}

}  // namespace

const table::Schema kCompareTwoSchema{"compare", "Two runs' metrics side by side.", columns(false)};
const table::Schema kCompareThreeSchema{"compare-three", "Three runs' metrics side by side.", columns(true)};

const Command kCompareCommand{"compare", "Put two or three runs side by side: base, estimated, actual",
                              "contrafact compare run.cft estimated.cft\n"
                              "contrafact compare run.cft changed.cft --apply specs/best.json\n"
                              "contrafact compare run.cft estimated.cft changed.cft --plot profile.html",
                              declare};

}  // namespace contrafact::cli
