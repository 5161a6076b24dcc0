#include <fmt/format.h>

#include <memory>

#include "analysis/derived_metric.h"
#include "cli/commands.h"
#include "cli/exit_code.h"
#include "cli/json_document.h"
#include "cli/metric_tables.h"
#include "cli/output.h"
#include "cli/trace_input.h"
#include "cli/window_option.h"

namespace contrafact::cli {
namespace {

struct Options {
  std::string path;
  std::vector<std::string> derive;
  std::string window = "run";
  bool json = false;
};

// NAME=EXPRESSION, or an expression that is its own name.
struct Derived {
  std::string name;
  double value;
};

base::Result<std::vector<Derived>> derive(const std::vector<std::string>& expressions,
                                          const std::vector<analysis::Metric>& metrics) {
  std::vector<Derived> results;
  for (const std::string& text : expressions) {
    size_t equals = text.find('=');
    bool named = equals != std::string::npos && equals > 0 && equals + 1 < text.size() && text[equals + 1] != '=' &&
                 text.find_first_not_of("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_") == equals;
    auto compiled = analysis::DerivedMetric::compile(named ? text.substr(equals + 1) : text);
    if (!compiled) return compiled.error();
    base::Result<double> value = compiled->evaluate(metrics);
    if (!value) return value.error();
    results.push_back({named ? text.substr(0, equals) : text, *value});
  }
  return results;
}

int run(const Options& options, const Session& session) {
  std::optional<model::Trace> trace = load_trace(options.path, session);
  if (!trace) return kExitInput;
  analysis::ThreadUsage usage = analysis::thread_usage(*trace, {window_of(options.window)});
  std::vector<analysis::Metric> metrics = analysis::run_metrics(*trace, usage);
  base::Result<std::vector<Derived>> derived = derive(options.derive, metrics);
  if (!derived) return fail(kExitUsage, derived.error().message);
  table::Table table = metrics_table(metrics);
  for (const Derived& one : *derived) table.add_row({one.name, one.value, std::string(), std::string("derived")});
  table::Table pools = headroom_table(*trace, analysis::headroom(*trace, usage));
  std::string text;
  if (options.json) {
    table::Json document = json_document("metrics");
    document["trace"] = trace_json_header(options.path, *trace);
    document["window"] = options.window;
    document["metrics"] = table::rows_json(table);
    document["headroom"] = table::rows_json(pools);
    text = table::json_text(document);
  } else {
    if (trace->tasks.empty()) table.add_note(no_tasks_reason(*trace));
    text = fmt::format("Metrics, {}:\n{}\nHead-room of the pools:\n{}", name_of(trace->origin),
                       table::render_text(table, session.out), table::render_text(pools, session.out));
  }
  base::Status printed = options.json ? print(text) : print_text(session, text);
  return printed.ok() ? kExitOk : fail(kExitOutput, printed.error().message);
}

Run declare(OptionList& list) {
  auto options = std::make_shared<Options>();
  list.add_option("trace", options->path, "A recorded, estimated or simulated run").value_name("FILE").required();
  list.add_option("--derive", options->derive, "A metric computed from others; repeatable")
      .value_name("NAME=EXPRESSION")
      .repeatable();
  add_window_option(list, options->window);
  list.add_flag("--json", options->json, "Print JSON");
  return [options](Session& session) { return run(*options, session); };
}

}  // namespace

const Command kMetricsCommand{"metrics", "Print thread use, durations and the pools' head-room",
                              "contrafact metrics run.cft\n"
                              "contrafact metrics run.cft --derive 'cost=0.5*duration+0.5*peak_occupied'\n"
                              "contrafact metrics run.cft --window tasks --json",
                              declare};

}  // namespace contrafact::cli
