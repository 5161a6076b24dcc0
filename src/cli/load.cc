#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <memory>
#include <optional>

#include "advise/endpoint_loads.h"
#include "advise/service.h"
#include "analysis/arrivals.h"
#include "cli/commands.h"
#include "cli/endpoint_tables.h"
#include "cli/exit_code.h"
#include "cli/json_document.h"
#include "cli/load_tables.h"
#include "cli/option_values.h"
#include "cli/output.h"
#include "cli/progress.h"
#include "cli/spec_effect.h"
#include "cli/spec_input.h"
#include "cli/trace_input.h"
#include "model/requests.h"
#include "whatif/load.h"

namespace contrafact::cli {
namespace {

struct Options {
  std::string path;
  std::vector<std::string> app;
  std::vector<std::string> specs;
  std::string arrivals = "recorded";
  uint32_t cores = 0;
  uint32_t requests = 2000;
  uint32_t seeds = 3;
  bool by_task = false;
  std::vector<std::string> endpoints;
  bool endpoints_only = false;
  std::string output;
  bool csv = false;
  bool json = false;
};

// The loads of a curve of open arrivals: shares of what a program can take.
constexpr double kShares[] = {0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95};

base::Result<ProgramLoads> saturated(const advise::Service& service, const whatif::Variant& variant,
                                     std::string program) {
  ProgramLoads loads{.program = std::move(program)};
  base::Result<advise::Saturation> saturation = service.saturation(variant, true);
  if (!saturation) return saturation.error();
  loads.saturation = *std::move(saturation);
  base::Result<advise::LoadPoint> recorded = service.at_load(variant, 1);
  if (!recorded) return recorded.error();
  loads.recorded = *std::move(recorded);
  return loads;
}

// Requests a second: shares of what this program can take, and of what the best one can.
std::vector<double> rates_of(double own, double best) {
  std::vector<double> rates;
  for (const double share : kShares) rates.push_back(share * own);
  for (const double share : kShares) {
    if (share * best > rates.back()) rates.push_back(share * best);
  }
  return rates;
}

// Up to the loads that the best program can take, as far as this one keeps up.
base::Status add_curve(const advise::Service& service, const whatif::Variant& variant, const advise::LoadPoint& best,
                       ProgramLoads& loads) {
  const auto add = [&](base::Result<advise::LoadPoint> point) -> base::Status {
    if (!point) return point.error();
    loads.curve.push_back(*std::move(point));
    return {};
  };
  if (service.arrivals().open) {
    for (const double rate : rates_of(loads.saturation.point.per_second, best.per_second)) {
      if (base::Status status = add(service.at_rate(variant, rate)); !status) return status;
      if (loads.curve.back().stuck || !loads.curve.back().keeps_up) break;
    }
    return {};
  }
  const uint32_t last = std::max(best.clients, service.arrivals().clients);
  for (uint32_t clients = 1; clients <= 2 * last; clients *= 2) {
    if (base::Status status = add(service.at_clients(variant, clients, true)); !status) return status;
    if (loads.curve.back().stuck) break;
  }
  return {};
}

model::Requests requests_of(const Options& options, const model::Trace& trace) {
  if (options.by_task) return model::requests_by_task(trace);
  return model::requests_by_connection(trace);
}

std::string no_requests_reason(const model::Trace& trace, const Options& options) {
  if (options.by_task) return "no task was handed to a pool from outside of tasks";
  return trace.connections.empty()
             ? "no connection was recorded that the program accepted; --by-task takes outermost tasks for requests"
             : "no request was answered on the connections that the program accepted; --by-task takes outermost tasks "
               "for requests";
}

std::string no_such_endpoint(const model::Requests& requests, const std::vector<std::string>& patterns) {
  constexpr size_t kNamed = 5;
  std::vector<std::string> names(requests.endpoints.begin(),
                                 requests.endpoints.begin() + std::min(kNamed, requests.endpoints.size()));
  return fmt::format("no endpoint is called {}; there are {}{}", fmt::join(patterns, ", "), fmt::join(names, ", "),
                     requests.endpoints.size() > kNamed ? ", and others (--endpoints shows all)" : "");
}

int run(const Options& options, const Session& session) {
  const std::optional<model::Trace> trace = load_trace(options.path, session, options.app);
  if (!trace) return kExitInput;
  for (const std::string& spec : options.specs) protect_input(spec);
  const auto impossible = [&](const std::string& why) {
    return fail(kExitImpossible, fmt::format("{}: {}", options.path, why));
  };
  model::Requests requests = requests_of(options, *trace);
  if (requests.all.empty()) return impossible(no_requests_reason(*trace, options));
  model::drop_warm_up(*trace, requests);
  const model::Facts facts(*trace);
  whatif::Variant variant;
  if (!options.specs.empty()) {
    base::Result<SpecEngines> engines = SpecEngines::create(facts, std::nullopt);
    if (!engines) return impossible(engines.error().message);
    const base::Result<std::vector<improve::Candidate>> applied = read_spec_files(engines->specs(), options.specs);
    if (!applied) return fail(kExitInput, applied.error().message);
    base::Result<whatif::Variant> made = whatif::variant_of(*trace, facts.sections(), improvements_of(*applied));
    if (!made) return impossible(made.error().message);
    variant = *std::move(made);
  }
  base::Result<whatif::LoadSimulator> simulator = whatif::LoadSimulator::make(facts, requests);
  if (!simulator) return impossible(simulator.error().message);
  if (simulator->recorded_ns().empty()) return impossible("no request of the recording can be simulated");
  analysis::Arrivals arrivals = analysis::arrivals_of(requests);
  if (arrivals.per_second <= 0) return impossible("only one request, or all at once: that does not show how they come");
  const bool was_open = arrivals.open;
  if (options.arrivals != "recorded") arrivals.open = options.arrivals == "open";

  const std::vector<bool> shown = endpoints_named(requests, options.endpoints);
  if (!options.endpoints.empty() && shown.empty()) return impossible(no_such_endpoint(requests, options.endpoints));
  const std::vector<uint32_t> endpoints = advise::drawn_endpoints(*simulator, requests);

  Progress progress(session, "simulating loads");
  size_t done = 0;
  const advise::Service service(*simulator, arrivals,
                                {.cores = options.cores,
                                 .requests = options.requests,
                                 .seeds = options.seeds,
                                 .lock_bounds = analysis::lock_bounds(facts, requests),
                                 .endpoints = endpoints,
                                 .shown = shown,
                                 .progress = [&] { progress.update(++done, 0); }});
  LoadDocument document{.path = options.path,
                        .trace = *trace,
                        .facts = facts,
                        .requests = requests,
                        .arrivals = arrivals,
                        .arrivals_given = options.arrivals != "recorded" && was_open != arrivals.open,
                        .error = service.error(),
                        .recorded_ns = {},
                        .notes = simulator->notes(),
                        .programs = {},
                        .shown = options.endpoints};
  for (size_t i = 0; i < endpoints.size(); ++i) {
    if (shown.empty() || shown[endpoints[i]]) document.recorded_ns.push_back(simulator->recorded_ns()[i]);
  }
  document.requests_shown = document.recorded_ns.size();
  std::vector<whatif::Variant> variants{{}};
  if (!options.specs.empty()) variants.push_back(variant);
  for (const whatif::Variant& one : variants) {
    base::Result<ProgramLoads> loads = saturated(service, one, document.programs.empty() ? "recorded" : "changed");
    if (!loads) return impossible(loads.error().message);
    document.programs.push_back(*std::move(loads));
  }
  advise::LoadPoint best;
  for (const ProgramLoads& loads : document.programs) {
    best.per_second = std::max(best.per_second, loads.saturation.point.per_second);
    best.clients = std::max(best.clients, loads.saturation.point.clients);
  }
  for (size_t i = 0; i < variants.size(); ++i) {
    const base::Status added = add_curve(service, variants[i], best, document.programs[i]);
    if (!added) return impossible(added.error().message);
    ProgramLoads& loads = document.programs[i];
    loads.endpoints = advise::endpoint_loads(*simulator, requests, loads.recorded, loads.saturation);
  }
  progress.done();
  const auto written = [](const base::Status& status) {
    return status.ok() ? kExitOk : fail(kExitOutput, status.error().message);
  };
  if (!options.output.empty()) {
    const bool is_svg = std::filesystem::path(options.output).extension() == ".svg";
    const base::Status status = write_output(options.output, is_svg ? load_picture(document) : load_page(document));
    if (status.ok()) tell_written(session, options.output);
    return written(status);
  }
  if (options.json) return written(print(load_json(document)));
  if (options.endpoints_only)
    return written(options.csv ? print(endpoints_csv(document))
                               : print_text(session, endpoints_text(document, session.out)));
  if (options.csv) return written(print(load_csv(document)));
  return written(print_text(session, load_text(document, session.out)));
}

Run declare(OptionList& list) {
  auto options = std::make_shared<Options>();
  list.add_option("trace", options->path, "A recorded run of a service").value_name("FILE").required();
  add_app_option(list, options->app);
  list.add_option("--apply", options->specs, "An improvement spec: also the changed program's curve; repeatable")
      .value_name("FILE")
      .repeatable();
  list.add_option("--arrivals", options->arrivals,
                  "How requests come; closed: each client waits for its answer; open: at their own times; recorded: as "
                  "the recording shows")
      .check(one_of({"recorded", "open", "closed"}))
      .show_default();
  list.add_option("--cores", options->cores, "Cores of the simulated machine; default: the recorded one's")
      .check(whole_number(1));
  list.add_option("--requests", options->requests, "Requests of each simulation, at least")
      .check(whole_number(100))
      .show_default();
  list.add_option("--seeds", options->seeds, "Simulations of each load, which draw other requests")
      .check(whole_number(1, 100))
      .show_default();
  list.add_flag("--by-task", options->by_task,
                "Take each task that is handed to a pool from outside of tasks for a request; no connection is needed");
  list.add_option(
          "--endpoint", options->endpoints,
          "Times of answers of the requests to these endpoints alone, while all are simulated; * stands for any "
          "characters; repeatable")
      .value_name("NAME")
      .repeatable();
  const Option csv = list.add_flag("--csv", options->csv, "Print the curve as CSV");
  const Option output =
      list.add_option("-o,--output", options->output,
                      "Write the curves as a page with tables, or the picture alone if the name ends with .svg")
          .value_name("FILE")
          .excludes(csv);
  const Option json = list.add_flag("--json", options->json, "Print JSON").excludes(csv).excludes(output);
  list.add_flag("--endpoints", options->endpoints_only, "Print all endpoints and nothing else; with --csv as CSV")
      .excludes(output)
      .excludes(json);
  return [options](Session& session) { return run(*options, session); };
}

}  // namespace

const Command kLoadCommand{"load", "Simulate a service under other loads: throughput, times of answers, what limits it",
                           "contrafact load run.cft\n"
                           "contrafact load run.cft --apply specs/best.json\n"
                           "contrafact load run.cft --arrivals open --cores 8 --csv",
                           declare};

}  // namespace contrafact::cli
