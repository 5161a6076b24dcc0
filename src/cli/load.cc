#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <optional>

#include "advise/load_curve.h"
#include "advise/recorded_service.h"
#include "cli/commands.h"
#include "cli/endpoint_tables.h"
#include "cli/exit_code.h"
#include "cli/load_tables.h"
#include "cli/option_values.h"
#include "cli/output.h"
#include "cli/progress.h"
#include "cli/service_options.h"
#include "cli/spec_effect.h"
#include "cli/spec_input.h"
#include "cli/trace_input.h"
#include "whatif/load_templates.h"

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

std::string no_such_endpoint(const model::Requests& requests, const std::vector<std::string>& patterns) {
  constexpr size_t kNamed = 5;
  std::vector<std::string> names(requests.endpoints.begin(),
                                 requests.endpoints.begin() + std::min(kNamed, requests.endpoints.size()));
  return fmt::format("no endpoint is called {}; there are {}{}", fmt::join(patterns, ", "), fmt::join(names, ", "),
                     requests.endpoints.size() > kNamed ? ", and others (--endpoints shows all)" : "");
}

// Adds the program with all specs applied, if there are some. An exit status.
int add_changed(const Options& options, const model::Facts& facts, std::vector<whatif::Variant>& variants) {
  if (options.specs.empty()) return kExitOk;
  const auto impossible = [&](const base::Error& error) {
    return fail(kExitImpossible, fmt::format("{}: {}", options.path, error.message));
  };
  base::Result<SpecEngines> engines = SpecEngines::create(facts, std::nullopt);
  if (!engines) return impossible(engines.error());
  const base::Result<std::vector<improve::Candidate>> applied = read_spec_files(engines->specs(), options.specs);
  if (!applied) return fail(kExitInput, applied.error().message);
  base::Result<whatif::Variant> made = whatif::variant_of(facts.trace(), facts.sections(), improvements_of(*applied));
  if (!made) return impossible(made.error());
  variants.push_back(*std::move(made));
  return kExitOk;
}

// Each program's saturation, loads and endpoints.
base::Result<std::vector<advise::ProgramLoads>> simulated(const advise::Service& service,
                                                          const std::vector<whatif::Variant>& variants,
                                                          const model::Requests& requests) {
  std::vector<advise::ProgramLoads> programs;
  for (const whatif::Variant& variant : variants) {
    advise::ProgramLoads loads{.program = programs.empty() ? "recorded" : "changed"};
    base::Result<advise::Saturation> saturation = service.saturation(variant, true);
    if (!saturation) return saturation.error();
    loads.saturation = *std::move(saturation);
    base::Result<advise::LoadPoint> recorded = service.at_load(variant, 1);
    if (!recorded) return recorded.error();
    loads.recorded = *std::move(recorded);
    programs.push_back(std::move(loads));
  }
  if (base::Status status = advise::add_curves(service, variants, programs); !status) return status.error();
  for (advise::ProgramLoads& loads : programs)
    loads.endpoints = advise::endpoint_loads(service.drawn(), requests, loads.recorded, loads.saturation);
  return programs;
}

int show(const Options& options, const Session& session, const LoadDocument& document) {
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

int run(const Options& options, const Session& session) {
  const std::optional<model::Trace> trace = load_trace(options.path, session, options.app);
  if (!trace) return kExitInput;
  for (const std::string& spec : options.specs) protect_input(spec);
  const auto impossible = [&](const std::string& why) {
    return fail(kExitImpossible, fmt::format("{}: {}", options.path, why));
  };
  const model::Facts facts(*trace);
  const base::Result<advise::RecordedService> recorded =
      advise::recorded_service(facts, {.by_task = options.by_task, .open = open_of(options.arrivals)});
  if (!recorded) return impossible(recorded.error().message);
  if (!recorded->unusable.empty()) return impossible(recorded->unusable);
  std::vector<whatif::Variant> variants{{}};
  if (const int status = add_changed(options, facts, variants); status != kExitOk) return status;
  const model::Requests& requests = recorded->requests;
  const std::vector<bool> shown = endpoints_named(requests, options.endpoints);
  if (!options.endpoints.empty() && shown.empty()) return impossible(no_such_endpoint(requests, options.endpoints));

  Progress progress(session, "simulating loads");
  size_t done = 0;
  const base::Result<advise::Service> service = advise::service_of(
      *recorded, facts,
      {.cores = options.cores, .requests = options.requests, .seeds = options.seeds, .shown = shown, .progress = [&] {
         progress.update(++done, 0);
       }});
  if (!service) return impossible(service.error().message);
  base::Result<std::vector<advise::ProgramLoads>> programs = simulated(*service, variants, requests);
  if (!programs) return impossible(programs.error().message);
  progress.done();
  LoadDocument document{.path = options.path,
                        .trace = *trace,
                        .facts = facts,
                        .requests = requests,
                        .arrivals = recorded->arrivals,
                        .arrivals_given = recorded->arrivals_given,
                        .error = service->error(),
                        .recorded_ns = {},
                        .notes = recorded->simulator->templates().notes(),
                        .programs = *std::move(programs),
                        .shown = options.endpoints};
  for (size_t i = 0; i < recorded->endpoints.size(); ++i) {
    if (shown.empty() || shown[recorded->endpoints[i]])
      document.recorded_ns.push_back(recorded->simulator->templates().recorded_ns()[i]);
  }
  document.requests_shown = document.recorded_ns.size();
  return show(options, session, document);
}

Run declare(OptionList& list) {
  auto options = std::make_shared<Options>();
  list.add_option("trace", options->path, "A recorded run of a service").value_name("FILE").required();
  add_app_option(list, options->app);
  list.add_option("--apply", options->specs, "An improvement spec: also the changed program's curve; repeatable")
      .value_name("FILE")
      .repeatable();
  add_arrivals_option(list, options->arrivals);
  list.add_option("--cores", options->cores, "Cores of the simulated machine; default: the recorded one's")
      .check(whole_number(1));
  list.add_option("--requests", options->requests, "Requests of each simulation, at least")
      .check(whole_number(100))
      .show_default();
  list.add_option("--seeds", options->seeds, "Simulations of each load, which draw other requests")
      .check(whole_number(1, 100))
      .show_default();
  add_by_task_option(list, options->by_task);
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
