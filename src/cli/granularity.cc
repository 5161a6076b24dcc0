#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <optional>

#include "advise/effect.h"
#include "analysis/granularity.h"
#include "cli/commands.h"
#include "cli/exit_code.h"
#include "cli/grain_curve_tables.h"
#include "cli/granularity_tables.h"
#include "cli/json_document.h"
#include "cli/option_values.h"
#include "cli/output.h"
#include "cli/progress.h"
#include "cli/recordings.h"
#include "cli/trace_input.h"
#include "model/facts.h"
#include "report/granularity_picture.h"
#include "table/value_text.h"
#include "whatif/screen.h"

namespace contrafact::cli {
namespace {

constexpr size_t kPictureBins = 400, kDistributionPoints = 400;

struct Options {
  std::string path;
  std::vector<std::string> app;
  std::string by = "both";
  std::string output;
  size_t top = 20;
  uint32_t cores = 0;
  bool no_aggregation = false;
  bool no_curves = false;
  bool all = false;
  bool json = false;
};

struct Document {
  const Options& options;
  const model::Trace& trace;
  analysis::Granularity measured;
  // Predicted: how the run's duration depends on the number of tasks, for each class. None: nothing was simulated.
  std::vector<advise::GrainCurve> curves = {};
  std::optional<whatif::BaselineCheck> baseline = {};
};

table::Table curves_of(const Document& document) {
  table::Table table = grain_curves_table(document.trace, document.curves, document.options.all);
  table.set_empty_reason(document.options.no_curves ? "no curves were asked for"
                         : !document.baseline       ? "the run cannot be simulated"
                                                    : "no class of tasks can be merged, split or cut off");
  if (document.baseline)
    table.add_note(
        fmt::format("(simulated on {}, without the recorder and other programs; with them the unchanged run takes {} "
                    "instead of {}{})",
                    document.options.cores == 0 ? "the recorded cores"
                                                : table::counted_text(document.options.cores, "core", "cores"),
                    table::duration_text(static_cast<double>(document.baseline->checked_ns)),
                    table::duration_text(static_cast<double>(document.baseline->recorded_ns)),
                    document.options.all || table.empty() ? "" : "; --all shows every setting"));
  return table;
}

std::string_view source_of(const Document& document) {
  return document.measured.executions.core_known ? "the kernel's switches" : "the events";
}

std::string counts_text(const Document& document) {
  const analysis::Granularity& measured = document.measured;
  uint64_t counted = 0;
  for (const analysis::ClassGranularity& c : measured.classes) counted += c.count;
  std::string text = table::counted_text(counted, "task was executed", "tasks were executed");
  const auto add = [&](uint64_t count, std::string_view one, std::string_view several) {
    if (count > 0) text += "; " + table::counted_text(count, one, several);
  };
  add(measured.executions.nested, "of them ran within another one, whose worker waited and helped",
      "of them ran within others, whose workers waited and helped");
  add(measured.executions.aggregated, "nested task is a part of another one", "nested tasks are parts of others");
  add(measured.executions.never, "was handed out and never started", "were handed out and never started");
  add(measured.executions.unfinished, "is not in the recording from its start to its end",
      "are not in the recording from their start to their end");
  add(measured.worker_runs, "run of a pool's worker has no row", "runs of pools' workers have no rows");
  return text + "\n";
}

std::string head_text(const Document& document) {
  const analysis::Granularity& measured = document.measured;
  std::string text = counts_text(document);
  text += measured.executions.core_known
              ? "granularity: time on a core, by the kernel's switches; hardware counters: not measured, nor is the "
                "cores' frequency known\n"
              : "granularity: time in which the events show neither a wait nor a block, for the kernel reported no "
                "switches; hardware counters: not measured\n";
  if (measured.executions.core_known && measured.executions.has_virtual)
    text += "of tasks on virtual threads it is the time in which their events show neither a wait nor a block\n";
  if (measured.cores > 0) {
    const double capacity_ns = static_cast<double>(measured.cores) * static_cast<double>(measured.run.run_ns);
    text += fmt::format(
        "the run: {} on {}, {} of their time used{}\n", table::duration_text(static_cast<double>(measured.run.run_ns)),
        table::counted_text(measured.cores, "core", "cores"),
        table::percent_text(capacity_ns > 0 ? measured.run.used_ns / capacity_ns : 0),
        measured.run.pauses == 0
            ? ""
            : fmt::format("; {} of {} in all left out", table::counted_text(measured.run.pauses, "pause", "pauses"),
                          table::duration_text(static_cast<double>(measured.run.paused_ns))));
  }
  return text + foreign_text(document.trace);
}

void cut_rows(table::Table& table, size_t top, std::string_view what) {
  if (const size_t all = table.rows().size(); all > top) {
    table.truncate(top);
    table.add_note(fmt::format("({} of {} {}; --top shows more)", top, all, what));
  }
}

table::Table outliers_of(const Document& document) {
  table::Table table = granularity_outliers_table(document.trace, document.measured);
  if (document.measured.outliers_all > document.measured.outliers.size())
    table.add_note(
        fmt::format("({} such tasks in all)", table::count_text(static_cast<int64_t>(document.measured.outliers_all))));
  return table;
}

std::string text_of(const Document& document, const Session& session) {
  table::Table classes = granularity_table(document.trace, document.measured);
  if (classes.empty()) {
    classes.set_empty_reason(no_tasks_reason(document.trace));
    return table::render_text(classes, session.out);
  }
  table::Table activity = granularity_activity_table(document.trace, document.measured);
  table::Table idle = granularity_idle_table(document.trace, document.measured);
  table::Table outliers = outliers_of(document);
  cut_rows(classes, document.options.top, "classes");
  cut_rows(idle, document.options.top, "classes");
  cut_rows(activity, document.options.top, "classes");
  cut_rows(outliers, document.options.top, "tasks");
  return head_text(document) + "\n" + table::render_text(classes, session.out) + "\n" +
         table::render_text(activity, session.out) + "\n" + table::render_text(idle, session.out) + "\n" +
         table::render_text(curves_of(document), session.out) + "\n" + table::render_text(outliers, session.out);
}

table::Json frames_json(const model::Trace& trace, model::ContextId context) {
  table::Json frames = table::Json::array();
  constexpr size_t kFramesMax = 64;
  for (size_t i = 0; i < kFramesMax && context.valid(); ++i) {
    frames.push_back(trace.frame_label(context));
    context = trace.contexts[context.index()].parent;
  }
  return frames;
}

table::Json class_json(const Document& document, const analysis::ClassGranularity& c, table::Json row,
                       const table::Json& activity, const table::Json& idle) {
  const analysis::ClassContexts& at = c.contexts;
  row["mean_ns"] = c.core.mean_ns();
  row["handed_out"] = c.handed_out;
  row["nested"] = c.nested;
  row["outliers"] = c.outliers;
  row["cost_ns"] = {
      {"spawn", c.cost.spawn_ns}, {"start", c.cost.start_ns}, {"take", c.cost.take_ns}, {"answer", c.cost.answer_ns}};
  row["reason"] = name_of(c.judgement.reason);
  row["shares"] = {{"cost", c.judgement.cost_share},
                   {"coarse", c.judgement.coarse_share},
                   {"unbalanced", c.judgement.unbalanced_share},
                   {"limit", c.judgement.limit}};
  const auto if_known = [&](bool value) { return at.create_known ? table::Json(value) : table::Json(); };
  row["made"] = {{"create", at.create_known ? frames_json(document.trace, at.create) : table::Json()},
                 {"spawn", frames_json(document.trace, at.spawn)},
                 {"one_create", if_known(at.one_create)},
                 {"one_spawn", at.one_spawn},
                 {"made_where_spawned", if_known(at.made_where_spawned)}};
  row["activity"] = activity;
  row["idle"] = idle;
  return row;
}

table::Json json_of(const Document& document) {
  const analysis::Granularity& measured = document.measured;
  table::Json json = json_document("granularity");
  json["trace"] = trace_json_header(document.options.path, document.trace);
  json["by"] = document.options.by;
  json["aggregation"] = !document.options.no_aggregation;
  json["cores"] = measured.cores > 0 ? table::Json(measured.cores) : table::Json();
  json["granularity"] = {{"unit", "ns on a core"},
                         {"source", source_of(document)},
                         {"cycles", nullptr},
                         {"nominal_frequency_hz", nullptr},
                         {"hardware_counters", "not measured"}};
  json["tasks"] = {{"nested", measured.executions.nested},
                   {"aggregated", measured.executions.aggregated},
                   {"never", measured.executions.never},
                   {"unfinished", measured.executions.unfinished},
                   {"worker_runs", measured.worker_runs}};
  json["run"] = {{"run_ns", measured.run.run_ns},           {"used_ns", measured.run.used_ns},
                 {"preemptions", measured.run.preemptions}, {"blocks", measured.run.blocks},
                 {"pauses", measured.run.pauses},           {"paused_ns", measured.run.paused_ns}};
  const table::Table classes = granularity_table(document.trace, measured);
  const table::Table activity = granularity_activity_table(document.trace, measured);
  const table::Table idle = granularity_idle_table(document.trace, measured);
  const table::Json rows = table::rows_json(classes), activity_rows = table::rows_json(activity),
                    idle_rows = table::rows_json(idle);
  const auto row_of = [](const table::Table& table, const table::Json& all, size_t i) {
    return table.empty() ? table::Json() : all[i];
  };
  json["classes"] = table::Json::array();
  for (size_t i = 0; i < measured.classes.size(); ++i)
    json["classes"].push_back(class_json(document, measured.classes[i], rows[i], row_of(activity, activity_rows, i),
                                         row_of(idle, idle_rows, i)));
  json["curves"] = grain_curves_json(document.trace, document.curves);
  json["simulated"] = document.baseline ? table::Json{{"recorded_ns", document.baseline->recorded_ns},
                                                      {"simulated_ns", document.baseline->simulated_ns},
                                                      {"error", document.baseline->error}}
                                        : table::Json();
  json["outliers"] = table::rows_json(outliers_of(document));
  json["outliers_all"] = measured.outliers_all;
  if (classes.empty()) json["empty_reason"] = no_tasks_reason(document.trace);
  return json;
}

report::GranularityPicture picture_of(const Document& document) {
  const analysis::Granularity& measured = document.measured;
  report::GranularityPicture picture;
  picture.title = "Granularity of tasks in " + std::filesystem::path(document.options.path).filename().string();
  for (uint32_t i = 0; i < std::min(report::kCurvesMax, measured.classes.size()); ++i) {
    const analysis::ClassGranularity& c = measured.classes[i];
    picture.curves.push_back({fmt::format("{}: {} ({}, {})", i + 1, class_label(document.trace, c),
                                          table::counted_text(c.count, "task", "tasks"), name_of(c.judgement.verdict)),
                              analysis::core_distribution(measured, i, kDistributionPoints),
                              i < measured.active_shares.size() ? measured.active_shares[i] : std::vector<float>()});
  }
  const int64_t span_ns = document.trace.end_ns() - document.trace.begin_ns();
  picture.run_s = static_cast<double>(span_ns) / 1e9;
  const double bin_ns = static_cast<double>(span_ns) / static_cast<double>(std::max<size_t>(1, measured.bins.size()));
  for (const analysis::ActivityBin& bin : measured.bins) {
    const double running_ns = bin_ns - bin.paused_ns;
    picture.preempted.push_back(in_100_ms(bin.preemptions, static_cast<int64_t>(bin_ns)));
    picture.blocked.push_back(in_100_ms(bin.blocks, static_cast<int64_t>(bin_ns)));
    picture.used.push_back(running_ns > 0 ? std::min(1.0, bin.used_ns / (running_ns * measured.cores)) : 0);
  }
  return picture;
}

std::vector<std::string> sentences(std::string_view text) {
  std::vector<std::string> lines;
  while (!text.empty()) {
    const size_t end = text.find('\n');
    lines.emplace_back(text.substr(0, end));
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  }
  return lines;
}

bool is_svg(const Options& options) {
  return std::filesystem::path(options.output).extension() == ".svg";
}

std::string page_of(const Document& document) {
  const table::Table classes = granularity_table(document.trace, document.measured);
  const table::Table activity = granularity_activity_table(document.trace, document.measured);
  const table::Table idle = granularity_idle_table(document.trace, document.measured);
  const table::Table outliers = outliers_of(document);
  const table::Table curves = curves_of(document);
  const std::string command(document.trace.fact("command"));
  report::GranularityPage page{.picture = picture_of(document),
                               .subtitle = command.empty() ? document.options.path : command,
                               .notes = sentences(head_text(document)),
                               .tables = {{"Granularity", &classes},
                                          {"While active", &activity},
                                          {"Idle cores", &idle},
                                          {"Fewer or more tasks", &curves},
                                          {"Outliers", &outliers}}};
  return report::granularity_page(page);
}

int write_picture(const Document& document, const Session& session) {
  if (document.measured.classes.empty())
    return fail(kExitImpossible, fmt::format("{}: {}", document.options.path, no_tasks_reason(document.trace)));
  const std::string content =
      is_svg(document.options) ? report::granularity_svg(picture_of(document)) : page_of(document);
  const base::Status written = write_output(document.options.output, content);
  if (!written) return fail(kExitOutput, written.error().message);
  tell_written(session, document.options.output);
  return kExitOk;
}

// Runs of any length: the longer the trace, the fewer settings are simulated.
void simulate_curves(const model::Facts& facts, const Session& session, Document& document) {
  const Options& options = document.options;
  if (options.no_curves || document.measured.classes.empty()) return;
  Progress progress(session, "simulating fewer and more tasks");
  const advise::Pricer pricer(facts, nullptr,
                              {.cores = options.cores, .left_out = advise::left_out_for_grains(facts.trace())});
  if (!pricer.simulates()) return;
  document.baseline = pricer.baseline();
  constexpr size_t kClassesMax = 8, kPointsMin = 16, kPointsMax = 24, kFew = 4;
  const size_t most = whatif::simulations_max(facts.trace());
  document.curves = advise::grain_curves(
      pricer, {.classes_max = std::clamp<size_t>(most / kFew, 1, kClassesMax),
               .points_max = std::clamp<size_t>(most, kPointsMin, kPointsMax),
               .progress = [&progress](size_t done, size_t total) { progress.update(done, total); }});
}

int run(const Options& options, const Session& session) {
  const std::optional<model::Trace> trace = load_trace(options.path, session, options.app);
  if (!trace) return kExitInput;
  const model::Facts facts(*trace);
  const bool draws = !options.output.empty();
  Document document{
      options, *trace,
      analysis::granularity(facts, {.key = options.by == "body"      ? analysis::ClassKey::body
                                           : options.by == "context" ? analysis::ClassKey::context
                                                                     : analysis::ClassKey::body_and_context,
                                    .aggregate = !options.no_aggregation,
                                    .tellable_share = advise::kTellableTime,
                                    .bins = draws ? kPictureBins : 0,
                                    .drawn = draws ? report::kCurvesMax : 0})};
  if (!is_svg(options)) simulate_curves(facts, session, document);
  if (draws) return write_picture(document, session);
  const std::string text = options.json ? table::json_text(json_of(document)) : text_of(document, session);
  const base::Status printed = options.json ? print(text) : print_text(session, text);
  return printed.ok() ? kExitOk : fail(kExitOutput, printed.error().message);
}

Run declare(OptionList& list) {
  auto options = std::make_shared<Options>();
  list.add_option("trace", options->path, "A recorded, estimated or simulated run").value_name("FILE").required();
  add_app_option(list, options->app);
  list.add_option("--by", options->by, "Group by body, by context (of the spawn), or by both")
      .check(one_of({"body", "context", "both"}))
      .show_default();
  list.add_flag("--no-aggregation", options->no_aggregation,
                "Count nested tasks that are parts of others, such as adapters, as tasks of their own");
  list.add_option("--cores", options->cores, "Cores of the simulated machine; default: the recorded one's")
      .check(whole_number(1));
  list.add_flag("--no-curves", options->no_curves, "Do not simulate what fewer or more tasks would gain");
  list.add_flag("--all", options->all, "Print every simulated setting, not only the best ones");
  const Option output =
      list.add_option("-o,--output", options->output,
                      "Write pictures and tables as a page, or the pictures alone if the name ends with .svg")
          .value_name("FILE");
  list.add_option("--top", options->top, "Classes to print, the longest total first")
      .check(whole_number(1))
      .show_default();
  list.add_flag("--json", options->json, "Print JSON; every class").excludes(output);
  return [options](Session& session) { return run(*options, session); };
}

}  // namespace

const Command kGranularityCommand{"granularity",
                                  "Say of each class of tasks whether it is too fine, too coarse or right",
                                  "contrafact granularity run.cft\n"
                                  "contrafact granularity run.cft --by body --no-aggregation\n"
                                  "contrafact granularity run.cft -o granularity.html",
                                  declare};

}  // namespace contrafact::cli
