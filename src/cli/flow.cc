#include <fmt/format.h>

#include <filesystem>
#include <memory>
#include <optional>
#include <utility>

#include "analysis/cpu_use.h"
#include "analysis/lock_profile.h"
#include "cli/commands.h"
#include "cli/exit_code.h"
#include "cli/flow_views.h"
#include "cli/graphviz.h"
#include "cli/json_document.h"
#include "cli/option_values.h"
#include "cli/output.h"
#include "cli/progress.h"
#include "cli/recordings.h"
#include "cli/trace_input.h"
#include "table/value_text.h"

namespace contrafact::cli {
namespace {

constexpr size_t kSitesDrawnMax = 1000;  // Graphviz takes minutes beyond
constexpr const char* kFlowFormats[] = {"text", "html", "svg", "dot", "csv"};

struct Options {
  RecordingPaths paths;
  std::string output = "-";
  std::string format;  // empty: by the output's name
  std::string rows = "locks";
  size_t top = 20;
  uint32_t cores = 0;
  uint32_t seeds = advise::PricerOptions().draws;
  bool implicit = false;
  bool json = false;
};

// What the recordings say. `advice` and `graph` are empty where there is nothing to say.
struct Document {
  const Options& options;
  const Recordings& recordings;
  const analysis::SectionFacts& facts;
  const model::SectionFlows& flows;
  advise::FlowAdvice advice;
  analysis::FlowGraph graph;
  std::optional<whatif::BaselineCheck> baseline;
};

// Why there is nothing to say; empty if there is.
std::string empty_reason(const Recordings& recordings) {
  if (model::has_flows(tracked_recording(recordings))) return "";
  if (model::is_native(recordings.trace))
    return "it is not known what critical sections hand each other: information flow is recorded of JVMs alone "
           "(docs/flow.md)";
  return "no critical section has information flow: record the program with --flow, and --classes for the code whose "
         "locks count";
}

std::string unknown_text(const Document& document) {
  const analysis::ScheduleImpact& impact = document.advice.impact;
  std::string text;
  const auto add = [&](uint64_t count, std::string_view what) {
    if (count > 0)
      text += fmt::format("{}of {} it is not known what {}", text.empty() ? "; " : ", ",
                          table::count_text(static_cast<int64_t>(count)), what);
  };
  add(impact.without_sets, "they touch");
  add(impact.without_flows, "they get");
  if (!text.empty()) text += ": these keep their order";
  return text;
}

std::string lost_text(const model::SectionFlows& flows) {
  if (flows.unknown_sources + flows.unknown_targets == 0) return "";
  return fmt::format("{} left out: one of the two sections is not in the recording\n",
                     table::counted_text(flows.unknown_sources + flows.unknown_targets, "flow is", "flows are"));
}

std::string head_text(const Document& document) {
  const analysis::ScheduleImpact& impact = document.advice.impact;
  std::string text =
      fmt::format("{} of {} {} one of another thread{}\n", table::count_text(static_cast<int64_t>(impact.overlapping)),
                  table::counted_text(impact.sections, "critical section", "critical sections"),
                  impact.sections == 1 ? "overlaps" : "overlap", unknown_text(document));
  text += lost_text(document.flows);
  if (document.baseline) {
    const whatif::BaselineCheck& baseline = *document.baseline;
    const auto duration = [](int64_t ns) { return table::duration_text(static_cast<double>(ns)); };
    text += fmt::format("the unchanged run: {} recorded, {} simulated ({}), {} re-timed{}\n",
                        duration(baseline.recorded_ns), duration(baseline.simulated_ns),
                        table::percent_text(baseline.error), duration(baseline.retimed_ns),
                        baseline.trusted ? "" : ": too far off, gains are the less certain");
  }
  text += recordings_text(document.recordings, document.facts);
  if (document.recordings.tracked)
    text += fmt::format("what sections hand each other: {}\n", document.recordings.flow_path);
  return text + foreign_text(document.recordings.trace);
}

std::string control_text(const Document& document) {
  uint64_t branches = 0;
  for (const analysis::FlowSite& site : document.graph.sites) branches += site.control_only;
  if (branches == 0) return "";
  return fmt::format("{} on what another section had, and no value carried it: {}\n",
                     table::counted_text(branches, "branch or index depended", "branches or indexes depended"),
                     document.options.implicit ? "these count as flows"
                                               : "without --implicit these do not count, and flows are a lower bound");
}

std::string next_text(const Document& document, const Session& session) {
  if (!document.advice.next) return "";
  const advise::NextBottleneck& next = *document.advice.next;
  const model::Trace& trace = *document.facts.trace;
  const auto name_of = [&](model::LockId lock) {
    return table::printable(analysis::lock_name(trace, lock), session.out.unicode);
  };
  const std::string change =
      fmt::format("with only the order of {} for {}",
                  next.relation == analysis::Relation::flows ? "flows" : "conflicts", name_of(next.changed));
  if (!next.next.valid()) return fmt::format("next bottleneck: none; {} no thread waits for a lock\n", change);
  return fmt::format("next bottleneck: {}{}, {} of {} waited for locks {} (estimated)\n",
                     next.next == next.changed ? "still " : "", name_of(next.next),
                     table::duration_text(static_cast<double>(next.wait_ns)),
                     table::duration_text(static_cast<double>(next.all_wait_ns)), change);
}

void cut(table::Table& table, size_t top, std::string_view what) {
  if (const size_t all = table.rows().size(); all > top) {
    table.truncate(top);
    table.add_note(fmt::format("({} of {} {}; --top shows more)", top, all, what));
  }
}

std::string text_of(const Document& document, const Session& session) {
  if (const std::string why = empty_reason(document.recordings); !why.empty()) return "Nothing to say: " + why + "\n";
  table::Table locks = flow_locks_table(document.facts, document.advice);
  table::Table sites = flow_sites_table(document.facts, document.graph, document.advice.impact);
  table::Table edges = flow_edges_table(document.facts, document.graph);
  cut(locks, document.options.top, "locks");
  cut(sites, document.options.top, "places");
  cut(edges, document.options.top, "edges");
  if (document.advice.impact.not_priced > 0)
    locks.add_note(fmt::format("({} that were waited for less were not looked at)",
                               table::counted_text(document.advice.impact.not_priced, "more lock", "more locks")));
  return head_text(document) + "\n" + table::render_text(flow_orders_table(document.advice), session.out) + "\n" +
         table::render_text(locks, session.out) + next_text(document, session) + "\n" +
         table::render_text(sites, session.out) + control_text(document) + "\n" +
         table::render_text(edges, session.out);
}

table::Json gain_json(const std::optional<advise::Gain>& gain) {
  if (!gain) return nullptr;
  return {{"share", gain->share}, {"low", gain->low}, {"high", gain->high}};
}

table::Json next_json(const Document& document) {
  if (!document.advice.next) return nullptr;
  const advise::NextBottleneck& next = *document.advice.next;
  const model::Trace& trace = *document.facts.trace;
  return {{"changed", analysis::lock_name(trace, next.changed)},
          {"keeps", next.relation == analysis::Relation::flows ? "flows" : "conflicts"},
          {"lock", next.next.valid() ? table::Json(analysis::lock_name(trace, next.next)) : table::Json()},
          {"wait_ns", next.wait_ns},
          {"all_wait_ns", next.all_wait_ns}};
}

table::Json times_json(const Document& document, analysis::Relation relation, const std::optional<advise::Gain>& gain) {
  const analysis::RelationTimes& times = analysis::times_of(document.advice.impact.all, relation);
  return {{"wait_ns", times.wait_ns}, {"duration_ns", times.run_ns}, {"gain", gain_json(gain)}};
}

table::Json locks_json(const Document& document) {
  const table::Json rows = table::rows_json(flow_locks_table(document.facts, document.advice));
  table::Json out = table::Json::array();
  for (size_t i = 0; i < document.advice.locks.size(); ++i) {
    const advise::LockFlowAdvice& lock = document.advice.locks[i];
    table::Json row = rows[i];
    row["conflicts_duration_ns"] = analysis::times_of(lock.impact.times, analysis::Relation::conflicts).run_ns;
    row["flows_duration_ns"] = analysis::times_of(lock.impact.times, analysis::Relation::flows).run_ns;
    row["replacement"] = nullptr;
    if (lock.replacement != nullptr) row["replacement"] = lock.replacement->by;
    row["conflicts_on"] = table::Json::array();
    for (const analysis::ConflictField& field : lock.fields)
      row["conflicts_on"].push_back({{"memory", field.memory}, {"pairs", field.pairs}});
    out.push_back(std::move(row));
  }
  return out;
}

table::Json json_of(const Document& document) {
  using analysis::Relation;
  const analysis::ScheduleImpact& impact = document.advice.impact;
  const std::string& flow_path = document.recordings.flow_path;
  table::Json json = json_document("flow");
  json["trace"] = trace_json_header(document.recordings.path, *document.facts.trace);
  json["counterparts"] = counterparts_json(document.recordings, document.facts);
  json["flow_path"] = flow_path.empty() ? table::Json() : table::Json(flow_path);
  json["implicit"] = document.options.implicit;
  json["sections"] = {{"count", impact.sections},
                      {"overlapping", impact.overlapping},
                      {"without_sets", impact.without_sets},
                      {"without_flows", impact.without_flows}};
  json["flows_left_out"] = document.flows.unknown_sources + document.flows.unknown_targets;
  json["all_locks"] = {{"locks", times_json(document, Relation::locks, std::nullopt)},
                       {"conflicts", times_json(document, Relation::conflicts, document.advice.all.conflicts)},
                       {"flows", times_json(document, Relation::flows, document.advice.all.flows)}};
  const whatif::BaselineCheck baseline = document.baseline.value_or(whatif::BaselineCheck());
  json["simulation_baseline"] = {{"recorded_ns", baseline.recorded_ns}, {"simulated_ns", baseline.simulated_ns},
                                 {"retimed_ns", baseline.retimed_ns},   {"error", baseline.error},
                                 {"trusted", baseline.trusted},         {"notes", baseline.notes}};
  json["foreign_share"] = nullptr;
  if (const auto foreign = analysis::foreign_share(*document.facts.trace)) json["foreign_share"] = *foreign;
  json["locks"] = locks_json(document);
  json["sites"] = table::rows_json(flow_sites_table(document.facts, document.graph, impact));
  json["edges"] = table::rows_json(flow_edges_table(document.facts, document.graph));
  json["next_bottleneck"] = next_json(document);
  json["not_priced"] = impact.not_priced;
  if (const std::string why = empty_reason(document.recordings); !why.empty()) json["empty_reason"] = why;
  return json;
}

std::string format_of(const Options& options) {
  if (!options.format.empty()) return options.format;
  const std::string extension = std::filesystem::path(options.output).extension().string();
  for (const char* format : kFlowFormats) {
    if (extension == std::string(".") + format) return format;
  }
  return options.output == "-" ? "text" : "html";
}

std::string csv_of(const Document& document) {
  const std::string& rows = document.options.rows;
  if (rows == "edges") return table::render_csv(flow_edges_table(document.facts, document.graph));
  if (rows == "sites")
    return table::render_csv(flow_sites_table(document.facts, document.graph, document.advice.impact));
  return table::render_csv(flow_locks_table(document.facts, document.advice));
}

// The sentences around the tables, one each.
std::vector<std::string> lines_of(std::string_view text) {
  std::vector<std::string> lines;
  while (!text.empty()) {
    const size_t end = text.find('\n');
    lines.emplace_back(text.substr(0, end));
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  }
  return lines;
}

base::Result<std::string> content_of(const Document& document, const std::string& format, const Session& session) {
  if (document.options.json) return table::json_text(json_of(document));
  if (format == "csv") return csv_of(document);
  if (format == "text") return text_of(document, session);
  if (document.options.top > kSitesDrawnMax)
    return base::Error{fmt::format("--top {}: a picture shows at most {}", document.options.top, kSitesDrawnMax)};
  const FlowView view{.facts = document.facts,
                      .graph = document.graph,
                      .advice = document.advice,
                      .sites_max = document.options.top,
                      .title = "Flows of " + std::filesystem::path(document.recordings.path).filename().string()};
  const std::string dot = flow_dot(view);
  if (format == "dot") return dot;
  base::Result<std::string> svg = laid_out(dot);
  if (!svg || format == "svg") return svg;
  return flow_page(view, lines_of(head_text(document) + next_text(document, session) + control_text(document)),
                   *std::move(svg));
}

base::Status write_content(const Document& document, const std::string& format, const Session& session,
                           const std::string& content) {
  if (document.options.output == "-" && format == "text" && !document.options.json) return print_text(session, content);
  return write_output(document.options.output, content);
}

int run(const Options& options, const Session& session) {
  const std::optional<Recordings> recordings = load_recordings(options.paths, session);
  if (!recordings) return kExitInput;
  const std::string format = format_of(options);
  const std::string why_empty = empty_reason(*recordings);
  if (!why_empty.empty() && !options.json) return fail(kExitImpossible, recordings->path + ": " + why_empty);
  const model::Facts of_trace(recordings->trace);
  const analysis::SectionFacts facts = section_facts(*recordings, of_trace);
  const model::SectionFlows flows = section_flows(*recordings, facts);
  Document document{options, *recordings, facts, flows, {}, {}, {}};
  if (why_empty.empty()) {
    Progress progress(session, "pricing locks");
    const advise::Pricer pricer(of_trace, &facts, {.cores = options.cores, .draws = options.seeds});
    document.baseline = pricer.baseline();
    document.advice =
        advise::advise_flows(pricer, flows, memory_names(*recordings),
                             {.impact = {.control = options.implicit},
                              .progress = [&](size_t done, size_t total) { progress.update(done, total); }});
    document.graph = analysis::flow_graph(facts, flows, options.implicit);
  }
  const base::Result<std::string> content = content_of(document, format, session);
  if (!content) return fail(kExitImpossible, content.error().message);
  if (base::Status written = write_content(document, format, session, *content); !written)
    return fail(kExitOutput, written.error().message);
  tell_written(session, options.output);
  return why_empty.empty() ? kExitOk : fail(kExitImpossible, recordings->path + ": " + why_empty);
}

Run declare(OptionList& list) {
  auto options = std::make_shared<Options>();
  add_flow_recording_arguments(list, options->paths);
  list.add_option("-o,--output", options->output, "File to write; - is standard output")
      .value_name("FILE")
      .show_default();
  const Option format =
      list.add_option("--format", options->format,
                      "Form of the output (csv: of everything); default: what the output's name ends with, else text")
          .check(one_of(std::vector<std::string>(std::begin(kFlowFormats), std::end(kFlowFormats))));
  list.add_option("--rows", options->rows, "Of csv: what the rows are")
      .check(one_of({"locks", "sites", "edges"}))
      .show_default();
  list.add_option("--top", options->top, "Rows to print of each table, and places to draw")
      .check(whole_number(1))
      .show_default();
  list.add_option("--cores", options->cores, "Cores of the simulated machine; default: the recorded one's")
      .check(whole_number(1));
  list.add_option("--seeds", options->seeds, "Simulations with drawn hand-overs for each interval; 0: no interval")
      .check(whole_number(0, 1000))
      .show_default();
  list.add_flag("--implicit", options->implicit, "Count what only a branch or an index depended on as a flow, too");
  list.add_flag("--json", options->json, "Print JSON; everything").excludes(format);
  return [options](Session& session) { return run(*options, session); };
}

}  // namespace

const Command kFlowCommand{"flow",
                           "Find which waits for locks the computation itself needs, and what removes the others",
                           "contrafact flow flow.cft\n"
                           "contrafact flow run.cft sets.cft flow.cft --implicit\n"
                           "contrafact flow run.cft flow.cft -o flow.html",
                           declare};

}  // namespace contrafact::cli
