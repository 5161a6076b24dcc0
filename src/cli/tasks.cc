#include <fmt/format.h>

#include <algorithm>
#include <memory>

#include "cli/commands.h"
#include "cli/exit_code.h"
#include "cli/json_document.h"
#include "cli/metric_tables.h"
#include "cli/option_values.h"
#include "cli/output.h"
#include "cli/trace_input.h"

namespace contrafact::cli {
namespace {

struct Options {
  std::string path;
  std::vector<std::string> app;
  std::string by = "both";
  size_t top = 20;
  bool json = false;
};

// Tasks of which the trace knows neither what they run nor where they come from.
bool has_nameless(const std::vector<analysis::TaskClass>& classes) {
  return std::ranges::any_of(classes,
                             [](const analysis::TaskClass& c) { return !c.body.valid() && !c.context.valid(); });
}

int run(const Options& options, const Session& session) {
  std::optional<model::Trace> trace = load_trace(options.path, session, options.app);
  if (!trace) return kExitInput;
  analysis::ClassKey key = options.by == "body"      ? analysis::ClassKey::body
                           : options.by == "context" ? analysis::ClassKey::context
                                                     : analysis::ClassKey::body_and_context;
  const std::vector<analysis::TaskClass> classes = analysis::task_classes(*trace, key);
  table::Table table = task_classes_table(*trace, classes);
  table.set_empty_reason(no_tasks_reason(*trace));
  std::string text;
  if (options.json) {
    table::Json document = json_document("tasks");
    document["trace"] = trace_json_header(options.path, *trace);
    document["by"] = options.by;
    document["classes"] = table::rows_json(table);
    if (table.empty()) document["empty_reason"] = table.empty_reason();
    text = table::json_text(document);
  } else {
    if (size_t all = table.rows().size(); all > options.top) {
      table.truncate(options.top);
      table.add_note(fmt::format("({} of {} classes; --top shows more)", options.top, all));
    }
    if (has_nameless(classes))
      table.add_note(
          "(-: not in the trace, as of futures that other code completes and of tasks that are run in place)");
    text = table::render_text(table, session.out);
  }
  base::Status printed = options.json ? print(text) : print_text(session, text);
  return printed.ok() ? kExitOk : fail(kExitOutput, printed.error().message);
}

Run declare(OptionList& list) {
  auto options = std::make_shared<Options>();
  list.add_option("trace", options->path, "A recorded, estimated or simulated run").value_name("FILE").required();
  add_app_option(list, options->app);
  list.add_option("--by", options->by, "Group by body, by context (of the spawn), or by both")
      .check(one_of({"body", "context", "both"}))
      .show_default();
  list.add_option("--top", options->top, "Classes to print, the longest total first, pools' workers last")
      .check(whole_number(1))
      .show_default();
  list.add_flag("--json", options->json, "Print JSON; every class");
  return [options](Session& session) { return run(*options, session); };
}

}  // namespace

const Command kTasksCommand{"tasks", "Print the classes of tasks: how many, how long, how much of it waiting",
                            "contrafact tasks run.cft\ncontrafact tasks run.cft --by body --top 50\n"
                            "contrafact tasks run.cft --json",
                            declare};

}  // namespace contrafact::cli
