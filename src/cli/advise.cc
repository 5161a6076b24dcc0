#include <fmt/format.h>
#include <fmt/ranges.h>

#include <deque>
#include <functional>
#include <iterator>
#include <memory>

#include "advise/flow_advice.h"
#include "advise/several.h"
#include "advise/task_advice.h"
#include "cli/advice_tables.h"
#include "cli/advice_text.h"
#include "cli/commands.h"
#include "cli/exit_code.h"
#include "cli/option_values.h"
#include "cli/output.h"
#include "cli/profile_input.h"
#include "cli/progress.h"
#include "cli/recordings.h"
#include "cli/service_options.h"
#include "cli/service_report.h"
#include "cli/trace_input.h"
#include "improve/task_candidates.h"
#include "model/facts.h"
#include "table/value_text.h"
#include "whatif/screen.h"

namespace contrafact::cli {
namespace {

constexpr uint64_t kBudgetUnit = 1'000'000;  // vertices visited

struct Options {
  RecordingPaths paths;
  std::vector<std::string> app;
  std::string weights = "time=1,peak=1,mean=1";
  Option weights_given;
  std::string model = "both";
  std::string objective = "auto";
  double load = 1;
  std::string arrivals = "recorded";
  bool by_task = false;
  std::string specs;
  std::string plot;
  std::vector<std::string> sources;
  size_t changes_max = 0;  // 0: as many as help
  std::vector<std::string> no_filter;
  uint32_t cores = 0;
  double slower_max_percent = 0;
  uint64_t budget = 0;  // 0: by the length of the trace
  size_t top = 20;
  bool left_out = false;
  bool all = false;
  bool json = false;
};

using advise::AdviceOptions;
using advise::Combination;
using advise::RecordingAdvice;

AdviceOptions advice_options(const Options& options, const AdviceDocument& document, const whatif::Estimator* estimator,
                             Progress& progress) {
  // Who asks for a budget has the time for simulations too.
  const size_t simulated = options.budget > 0 ? SIZE_MAX : whatif::simulations_max(document.trace());
  uint64_t visits_max = options.budget * kBudgetUnit;
  if (visits_max == 0 && estimator != nullptr) visits_max = whatif::default_visits(*estimator);
  auto filters = [&](std::string_view name) {
    auto named = [&](std::string_view what) {
      return std::find(options.no_filter.begin(), options.no_filter.end(), what) != options.no_filter.end();
    };
    return !named(name) && !named("all");
  };
  return {.weights = document.weights,
          .weights_given = options.weights_given.given(),
          .filter_time = filters("time"),
          .filter_peak = filters("peak"),
          .filter_mean = filters("mean"),
          .threads_scarce = document.threads_scarce,
          .filter_gain = filters("gain"),
          .slower_max = options.slower_max_percent / 100,
          .visits_max = visits_max,
          .simulated_max = std::min(options.top, simulated),
          .combinations_max = std::min(whatif::SearchOptions().keep, simulated),
          .sizes_max = std::min(AdviceOptions().sizes_max, simulated),
          .restore_best = options.budget > 0 || !options.plot.empty() || whatif::is_worth_restoring(document.trace()),
          .progress = [&progress](size_t done, size_t total) { progress.update(done, total); }};
}

// The recorded profile against that of the best combination, with the table of improvements.
base::Status write_plot(const std::string& path, const AdviceDocument& document) {
  const model::Trace& trace = document.trace();
  const Combination& best = document.best;
  report::ProfilePage page{.title = "Concurrency profile: recorded and improved"};
  std::string command(trace.fact("command"));
  page.subtitle = command.empty() ? document.path : command;
  page.runs.push_back(run_profile("base", document.path, trace, analysis::thread_usage(*document.facts)));
  if (best.effect.estimate.trace) {
    page.runs.push_back(run_profile("best combination", "", *best.effect.estimate.trace,
                                    analysis::thread_usage(*best.effect.estimate.trace)));
  }
  const table::Table improvements = improvements_table(document);
  page.tables.push_back({"Improvements", &improvements});
  return write_output(path, report::profile_page(page));
}

// What the engines need, as far as the trace has it.
struct Prepared {
  const model::Facts& known;
  std::optional<analysis::SectionFacts> sections = {};
  std::optional<whatif::Estimator> estimator = {};
  std::optional<advise::Pricer> pricer = {};
  improve::Candidates tasks = {};

  advise::Engines engines() const { return {estimator ? &*estimator : nullptr, *pricer}; }
  const analysis::SectionFacts* facts() const { return sections ? &*sections : nullptr; }
  improve::SpecTrace specs() const {
    return {.trace = known.trace(), .dag = estimator ? &estimator->dag() : nullptr, .sections = facts()};
  }
};

base::Status prepare_estimator(Prepared& made) {
  const model::Trace& trace = made.known.trace();
  made.tasks = improve::task_candidates(made.known);
  advise::leave_out_others_code(trace, made.tasks);
  // The threads of a native program are tasks too, but none that could be handed out otherwise.
  const bool only_threads = trace.fact("agent") == "native" && made.tasks.candidates.empty();
  if (trace.tasks.empty() || only_threads) return {};
  base::Result<whatif::Estimator> estimator = whatif::Estimator::create(made.known);
  if (!estimator) return estimator.error();
  made.estimator = *std::move(estimator);
  return {};
}

// The simulation and the estimates share nothing: each is made on a thread of its own.
base::Status prepare(const Options& options, Prepared& made) {
  base::Status status;
  const std::function<void()> parts[] = {
      [&] { status = prepare_estimator(made); },
      [&] {
        made.pricer.emplace(made.known, made.facts(),
                            advise::PricerOptions{.simulate = options.model == "both", .cores = options.cores});
      }};
  advise::for_each_index(std::size(parts), {}, [&](size_t part) { parts[part](); });
  return status;
}

// One recording's own advice.
base::Result<RecordingAdvice> advice_of(const std::string& path, const Prepared& made, const AdviceOptions& how) {
  RecordingAdvice one{.path = path, .engines = made.engines(), .specs = made.specs(), .advices = {}, .best = {}};
  base::Result<advise::Advices> advices = advise::advise(one.engines, made.tasks, how);
  if (!advices) return base::Error{fmt::format("{}: {}", path, advices.error().message)};
  one.advices = *std::move(advices);
  base::Result<Combination> best = advise::best_combination(one.engines, one.advices, how);
  if (!best) return base::Error{fmt::format("{}: {}", path, best.error().message)};
  one.best = *std::move(best);
  return one;
}

advise::RecordingNote note_of(const RecordingAdvice& one) {
  return {one.path, one.specs.trace.end_ns() - one.specs.trace.begin_ns(), one.advices.headline, one.advices.baseline};
}

using AllFacts = std::deque<model::Facts>;  // of each recording, the shown one's first

// The engines of all recordings, as `facts`.
base::Result<std::vector<std::unique_ptr<Prepared>>> prepare_all(const Recordings& recordings, const AllFacts& facts,
                                                                 const Options& options) {
  std::vector<std::unique_ptr<Prepared>> all;
  for (size_t i = 0; i < facts.size(); ++i) {
    Prepared& made = *all.emplace_back(std::make_unique<Prepared>(facts[i]));
    if (model::has_lock_events(facts[i].trace()) && recordings.has_sets())
      made.sections.emplace(section_facts(recordings, facts[i]));
    const base::Status status = prepare(options, made);
    const std::string& path = i == 0 ? recordings.path : recordings.others[i - 1].path;
    if (!status) return base::Error{fmt::format("{}: {}", path, status.error().message)};
  }
  return all;
}

// The figures that were not worked out because the trace is long.
std::string bounded_clauses(const AdviceDocument& document, const AdviceOptions& how) {
  const auto is_unsimulated = [](const advise::Advice& advice) {
    return advice.target() == whatif::Target::tasks && !advice.effect.simulated;
  };
  const auto count = static_cast<uint64_t>(std::ranges::count_if(document.advices.ranked, is_unsimulated));
  std::vector<std::string> clauses;
  if (how.simulated_max < document.shown && document.advices.baseline && count > 0)
    clauses.push_back(fmt::format("the simulation of {}", table::counted_text(count, "improvement", "improvements")));
  const bool lacks_trace = !document.best.members.empty() && !document.best.effect.estimate.trace;
  if (!how.restore_best && lacks_trace && document.threads_scarce)
    clauses.push_back("how many copies of the changed run its pools would fit");
  return fmt::format("{}", fmt::join(clauses, "; "));
}

// Makes each recording's advice. If there are several, rewrites that of the shown one by what all of them show.
base::Status advise_all(const Recordings& recordings, const std::vector<std::unique_ptr<Prepared>>& made,
                        const Options& options, Progress& progress, AdviceDocument& document) {
  const AdviceOptions how = advice_options(options, document, made[0]->engines().estimator, progress);
  base::Result<RecordingAdvice> shown = advice_of(recordings.path, *made[0], how);
  if (!shown) return shown.error();
  std::vector<RecordingAdvice> others;
  for (size_t i = 0; i < recordings.others.size(); ++i) {
    base::Result<RecordingAdvice> one = advice_of(recordings.others[i].path, *made[i + 1], how);
    if (!one) return one.error();
    others.push_back(*std::move(one));
  }
  if (!others.empty()) {
    document.several.push_back(note_of(*shown));
    for (const RecordingAdvice& other : others) document.several.push_back(note_of(other));
    advise::advise_over(*shown, others, how);
  }
  document.advices = std::move(shown->advices);
  document.best = std::move(shown->best);
  document.bounded = bounded_clauses(document, how);
  advise::rank_as_shown(document);
  return {};
}

// Whether the advice is on what a service's clients feel, if the trace has requests.
bool asks_for_service(const Options& options) {
  return options.objective == "throughput" || options.objective == "p99" ||
         (options.objective == "auto" && !options.weights_given.given() && options.model == "both");
}

// Whether only that will do.
bool insists_on_service(const Options& options) {
  return asks_for_service(options) && (options.objective != "auto" || options.by_task);
}

// `made`: of each recording, the shown one's first.
base::Result<ServiceReport> service_report_of(const Options& options, const Recordings& recordings,
                                              const std::vector<std::unique_ptr<Prepared>>& made,
                                              const AdviceDocument& document, Progress& progress) {
  constexpr size_t kRequestsMin = 20;
  std::vector<advise::OtherRecording> others;
  for (size_t i = 0; i < recordings.others.size(); ++i)
    others.push_back({recordings.others[i].path, *made[i + 1]->pricer, made[i + 1]->specs()});
  base::Result<ServiceReport> report = service_report(
      *made.front()->pricer, document.advices, document.best,
      {.advice = {.objective =
                      options.objective == "p99" ? advise::ServiceObjective::p99 : advise::ServiceObjective::throughput,
                  .load = options.load,
                  .changes_max = options.changes_max > 0 ? options.changes_max : SIZE_MAX},
       .reading = {.by_task = options.by_task, .open = open_of(options.arrivals), .requests_min = kRequestsMin},
       .cores = options.cores,
       .with_loads = !options.plot.empty(),
       .shown = made.front()->specs(),
       .others = others},
      progress);
  if (report.ok() && !report->others.empty())
    report->notes.push_back(
        fmt::format("the changes' gains are medians of {} recordings, with their spread; all else is of {}, that of "
                    "median length",
                    report->others.size() + 1, recordings.path));
  return report;
}

SpecList specs_of(const ServiceReport& report) {
  SpecList list;
  for (const advise::ServiceChange& change : report.advice.best) {
    list.best.push_back(list.all.size());
    list.all.push_back({change.candidate, advise::name_of(advise::Verdict::gain)});
  }
  for (const advise::ServiceChange& change : report.advice.others)
    list.all.push_back({change.candidate, advise::name_of(advise::Verdict::gain)});
  return list;
}

AdviceDocument document_of(const Options& options, const std::string& path, const model::Facts& facts,
                           advise::Weights weights) {
  // Where most of the threads are virtual, only time counts.
  constexpr double kMostly = 0.5;
  const bool threads_scarce = analysis::virtual_share(facts) <= kMostly;
  if (!threads_scarce) weights = {.duration = 1, .peak = 0, .mean = 0};
  return {.path = path,
          .facts = &facts,
          .weights = weights,
          .starvations = analysis::starvations(facts),
          .shown = options.top,
          .cores = options.cores,
          .threads_scarce = threads_scarce,
          .left_out = options.left_out,
          .all = options.all};
}

// All that is advised.
struct Advised {
  AdviceDocument document;
  std::vector<std::unique_ptr<Prepared>> made =
      {};  // of each recording, the shown one's first; empty: there is nothing to change
  std::optional<ServiceReport> service = {};
  std::string no_service = "it has neither tasks nor locks";  // why there is none
};

void add_starvations(const Recordings& recordings, const AllFacts& facts, AdviceDocument& document) {
  for (size_t i = 0; i < recordings.others.size(); ++i) {
    analysis::Starvations found = analysis::starvations(facts[i + 1]);
    if (found.starved.empty() && found.risks.empty()) continue;
    document.starved_elsewhere.push_back({recordings.others[i].path, &facts[i + 1].trace(), std::move(found)});
  }
}

// REQUIRES: the shown recording has tasks or locks.
base::Status add_advice(const Recordings& recordings, const AllFacts& facts, const Options& options,
                        const Session& session, Advised& advised) {
  AdviceDocument& document = advised.document;
  Progress progress(session, "estimating improvements");
  base::Result<std::vector<std::unique_ptr<Prepared>>> made = prepare_all(recordings, facts, options);
  if (!made) return made.error();
  advised.made = *std::move(made);
  const Prepared& shown = *advised.made.front();
  document.sections = shown.facts();
  if (shown.sections) document.recordings = recordings_text(recordings, *shown.sections);
  if (shown.sections && model::has_flows(tracked_recording(recordings))) {
    const advise::FlowAdvice flows =
        advise::advise_flows(*shown.pricer, section_flows(recordings, *shown.sections), memory_names(recordings), {});
    document.flows = advise::lock_sentences(recordings.trace, flows);
  }
  if (base::Status status = advise_all(recordings, advised.made, options, progress, document); !status) return status;
  if (!asks_for_service(options)) return {};
  base::Result<ServiceReport> report = service_report_of(options, recordings, advised.made, document, progress);
  if (!report) return report.error();
  advised.no_service = report->unusable;
  if (advised.no_service.empty()) advised.service = *std::move(report);
  return {};
}

base::Status write_all_specs(const Options& options, const Session& session, const Advised& advised) {
  if (options.specs.empty()) return {};
  if (advised.made.empty()) {
    tell_specs(session, options.specs, {}, "nothing is advised");
    return {};
  }
  const advise::Engines engines = advised.made.front()->engines();
  return advised.service ? write_specs(options.specs, engines, advised.document, specs_of(*advised.service), session)
                         : write_specs(options.specs, engines, advised.document, session);
}

base::Status show(const Options& options, const Session& session, const Advised& advised) {
  const AdviceDocument& document = advised.document;
  const std::optional<ServiceReport>& service = advised.service;
  if (!options.plot.empty()) {
    const base::Status written =
        service ? write_output(options.plot, service_page(document, *service)) : write_plot(options.plot, document);
    if (!written) return written;
    tell_written(session, options.plot);
  }
  SourceLines source(options.sources);
  if (options.json)
    return print(advice_json(document, service ? service_json(document, *service, source) : table::Json()));
  if (!service) return print_text(session, advice_text(document, session.out));
  return print_text(session,
                    service_text(document, *service, source, session.out) +
                        "\nWhat shortens the run, or needs fewer threads: --objective duration, --objective threads\n");
}

int run(const Options& options, const Session& session) {
  const bool for_threads = options.objective == "threads" && !options.weights_given.given();
  const base::Result<advise::Weights> weights = advise::parse_weights(for_threads ? "peak=1,mean=1" : options.weights);
  if (!weights) return fail(kExitUsage, weights.error().message);
  const std::optional<Recordings> recordings = load_recordings(options.paths, session, options.app);
  if (!recordings) return kExitInput;
  const model::Trace& trace = recordings->trace;
  AllFacts facts;
  facts.emplace_back(trace);
  for (const Recording& other : recordings->others) facts.emplace_back(other.trace);
  Advised advised{.document = document_of(options, recordings->path, facts.front(), *weights)};
  add_starvations(*recordings, facts, advised.document);
  if (!trace.tasks.empty() || model::has_lock_events(trace)) {
    const base::Status status = add_advice(*recordings, facts, options, session, advised);
    if (!status) return fail(kExitImpossible, status.error().message);
  }
  if (const base::Status status = write_all_specs(options, session, advised); !status)
    return fail(kExitOutput, status.error().message);
  if (!advised.service && insists_on_service(options))
    return fail(kExitImpossible, fmt::format("{}: {}", recordings->path, advised.no_service));
  const base::Status shown = show(options, session, advised);
  return shown.ok() ? kExitOk : fail(kExitOutput, shown.error().message);
}

Run declare(OptionList& list) {
  auto options = std::make_shared<Options>();
  add_recordings_arguments(list, options->paths);
  options->paths.flows = true;
  add_app_option(list, options->app);
  options->weights_given =
      list.add_option("--weights", options->weights, "What to improve: time, peak and mean number of threads occupied")
          .value_name("WEIGHTS")
          .show_default();
  list.add_option("--cores", options->cores, "Cores of the simulated machine; default: the recorded one's")
      .check(whole_number(1));
  list.add_option("--model", options->model, "What to work with; fixed: estimates only; both: simulations as well")
      .check(one_of({"fixed", "both"}))
      .show_default();
  list.add_option(
          "--objective", options->objective,
          "What to improve; of a service, how many requests it can answer (throughput) or how long answers take "
          "(p99); else the run's duration, or the number of threads. auto: throughput if there are requests")
      .check(one_of({"auto", "throughput", "p99", "duration", "threads"}))
      .show_default();
  list.add_option("--load", options->load, "Of a service: times of answers at this multiple of the recorded load")
      .value_name("K")
      .check(decimal_number(0.01))
      .show_default();
  add_arrivals_option(list, options->arrivals);
  add_by_task_option(list, options->by_task);
  list.add_option("--changes", options->changes_max,
                  "Of a service: how many changes to make together, at most; default: as many as help")
      .check(whole_number(1));
  list.add_option("--source", options->sources,
                  "Of a service: a folder of its sources, whose lines are printed below the changes; repeatable")
      .value_name("DIR")
      .repeatable();
  list.add_option("--top", options->top, "Improvements to print beside the best combination, and to simulate")
      .check(whole_number(0))
      .show_default();
  list.add_option(
          "--no-filter", options->no_filter,
          "Also rank what makes the run slower (time), raises the peak or the mean, has no gain, or all; repeatable")
      .repeatable()
      .check(one_of({"time", "peak", "mean", "gain", "all"}));
  list.add_option("--slower-max", options->slower_max_percent,
                  "Per cent by which an improvement may make the run slower")
      .value_name("PERCENT")
      .check(decimal_number(0))
      .show_default();
  list.add_option(
          "--budget", options->budget,
          "Work for the estimates, and as much for the search for the best combination, in millions of vertices "
          "visited; default: 32, for long traces more")
      .check(whole_number(1));
  list.add_option("--specs", options->specs, "Write each improvement's spec into this folder, and best.json")
      .value_name("DIR");
  list.add_option(
          "--plot", options->plot,
          "Write the profiles, recorded and improved, or a service's curves and changes, as a page for a browser")
      .value_name("FILE");
  list.add_flag("--all", options->all,
                "Print every improvement, also those that change nothing measurable by themselves");
  list.add_flag("--left-out", options->left_out, "List what was considered and not advised, with the reasons");
  list.add_flag("--json", options->json, "Print JSON; every improvement");
  return [options](Session& session) { return run(*options, session); };
}

}  // namespace

const Command kAdviseCommand{"advise",
                             "Rank what to change about tasks, locks, pools and cores, and what that would gain",
                             "contrafact advise run.cft\n"
                             "contrafact advise run.cft --load 2 --changes 4 --source src\n"
                             "contrafact advise run1.cft run2.cft sets.cft --specs specs --plot page.html",
                             declare};

}  // namespace contrafact::cli
