#include <fmt/format.h>

#include <memory>

#include "cli/commands.h"
#include "cli/exit_code.h"
#include "cli/json_document.h"
#include "cli/metric_tables.h"
#include "cli/option_values.h"
#include "cli/output.h"
#include "cli/trace_input.h"
#include "cli/window_option.h"
#include "export/perfetto.h"
#include "export/trace_csv.h"
#include "model/text_trace.h"

namespace contrafact::cli {
namespace {

struct Options {
  std::string path;
  std::vector<std::string> app;
  std::string format;
  std::string what = "thread-use";
  Option what_given;
  std::string output = "-";
  std::string window = "run";
};

void as_csv(const model::Trace& trace, const Options& options, const base::TextSink& sink) {
  if (options.what == "events") return exporters::events_csv(trace, sink);
  if (options.what == "tasks") return exporters::tasks_csv(trace, sink);
  const auto print_table = [&](const table::Table& table) { sink(table::render_csv(table)); };
  if (options.what == "task-classes") return print_table(task_classes_table(trace, analysis::task_classes(trace)));
  analysis::ThreadUsage usage = analysis::thread_usage(trace, {window_of(options.window)});
  if (options.what == "thread-use") return usage_series_csv(usage, sink);
  if (options.what == "headroom") return print_table(headroom_table(trace, analysis::headroom(trace, usage)));
  return print_table(metrics_table(analysis::run_metrics(trace, usage)));
}

std::vector<exporters::CounterTrack> counters(const analysis::ThreadUsage& usage) {
  std::vector<exporters::CounterTrack> tracks{
      {"threads active", "threads", {}}, {"threads waiting", "threads", {}}, {"threads unoccupied", "threads", {}}};
  for (const analysis::UsageStep& step : usage.steps) {
    tracks[0].samples.push_back({step.time_ns, step.active});
    tracks[1].samples.push_back({step.time_ns, step.waiting});
    tracks[2].samples.push_back({step.time_ns, step.unoccupied});
  }
  return tracks;
}

int run(const Options& options, const Session& session) {
  if (options.format == "cft" && options.output == "-") {
    return fail(kExitUsage, "a cft file cannot be written to standard output; give a name with -o");
  }
  if (options.format != "csv" && options.what_given.given()) {
    return fail(kExitUsage, fmt::format("--what is for csv: {} is of the whole trace", options.format));
  }
  std::optional<model::Trace> trace = load_trace(options.path, session, options.app);
  if (!trace) return kExitInput;
  if (options.format == "cft") {
    base::Status saved = save_trace(*trace, options.output);
    if (!saved) return fail(kExitOutput, saved.error().message);
    tell_written(session, options.output);
    return kExitOk;
  }
  // All outputs but tables contain the program's command and paths, like the recording itself, which other users may
  // not read either.
  constexpr mode_t kReadable = 0666, kPrivate = 0600;
  OutputStream out(options.output, options.format == "csv" ? kReadable : kPrivate);
  const base::TextSink sink = out.sink();
  if (options.format == "csv") {
    as_csv(*trace, options, sink);
  } else if (options.format == "perfetto") {
    exporters::perfetto_trace(*trace, counters(analysis::thread_usage(*trace)), sink);
  } else if (options.format == "text") {
    model::print_text(*trace, sink);
  } else {
    table::Json document = json_document("export");
    document["trace"] = trace_json_header(options.path, *trace);
    exporters::trace_json(*trace, document, sink);
  }
  base::Status written = out.finish();
  if (!written) return fail(kExitOutput, written.error().message);
  tell_written(session, options.output);
  return kExitOk;
}

Run declare(OptionList& list) {
  auto options = std::make_shared<Options>();
  list.add_option("trace", options->path, "A recorded, estimated or simulated run").value_name("FILE").required();
  add_app_option(list, options->app);
  list.add_option("--format", options->format,
                  "Form of the output; json, text and cft hold the whole trace; perfetto is for ui.perfetto.dev")
      .required()
      .check(one_of({"csv", "json", "text", "cft", "perfetto"}));
  options->what_given = list.add_option("--what", options->what, "Of csv only: the table to write")
                            .check(one_of({"thread-use", "metrics", "headroom", "task-classes", "tasks", "events"}))
                            .show_default();
  list.add_option("-o,--output", options->output, "File to write; - is standard output")
      .value_name("FILE")
      .show_default();
  add_window_option(list, options->window);
  return [options](Session& session) { return run(*options, session); };
}

}  // namespace

const Command kExportCommand{"export", "Write a trace or its metrics for other tools",
                             "contrafact export run.cft --format csv -o thread-use.csv\n"
                             "contrafact export run.cft --format csv --what tasks -o tasks.csv\n"
                             "contrafact export run.cft --format perfetto -o run.pftrace",
                             declare};

}  // namespace contrafact::cli
