#include <fmt/format.h>

#include <filesystem>
#include <memory>

#include "base/file.h"
#include "blueprint/views.h"
#include "cli/commands.h"
#include "cli/exit_code.h"
#include "cli/graphviz.h"
#include "cli/option_values.h"
#include "cli/output.h"

namespace contrafact::cli {
namespace {

namespace fs = std::filesystem;

constexpr size_t kDrawnMax = 1000;  // nodes; Graphviz takes minutes beyond
constexpr const char* kFormats[] = {"text", "html", "svg", "dot", "csv"};

struct Options {
  std::string path;
  std::string output = "-";
  std::string format;  // empty: by the output's name
  std::string level = "method";
  std::string width = "objects";
  std::string height = "bytes";
  std::string scale = "linear";
  std::string rows = "nodes";
  size_t top = 40;
  size_t edges = 0;  // 0: two for each node
};

std::string format_of(const Options& options) {
  if (!options.format.empty()) return options.format;
  const std::string extension = fs::path(options.output).extension().string();
  for (const char* format : kFormats) {
    if (extension == std::string(".") + format) return format;
  }
  return options.output == "-" ? "text" : "html";
}

table::Table rows_of(const Options& options, const blueprint::Graph& graph) {
  return options.rows == "nodes" ? blueprint::node_table(graph) : blueprint::edge_table(graph);
}

blueprint::View view_of(const Options& options) {
  blueprint::View view;
  view.level = options.level == "method"  ? blueprint::Level::method
               : options.level == "class" ? blueprint::Level::class_
                                          : blueprint::Level::package;
  view.width = *blueprint::metric_of(options.width);
  view.height = *blueprint::metric_of(options.height);
  view.scale = options.scale == "linear" ? blueprint::Scale::linear : blueprint::Scale::root;
  view.title = "Blueprint of " + fs::path(options.path).filename().string();
  return view;
}

base::Result<std::string> content_of(const Options& options, const blueprint::Profile& profile,
                                     const Session& session) {
  const std::string format = format_of(options);
  const blueprint::View view = view_of(options);
  const blueprint::Graph whole = blueprint::roll_up(profile, view.level);
  // For other programs: everything.
  if (format == "csv") return table::render_csv(rows_of(options, whole));
  const size_t edges = options.edges == 0 ? options.top * 2 : options.edges;
  const blueprint::Graph graph = blueprint::focus(whole, {.width = view.width,
                                                          .height = view.height,
                                                          .nodes_max = options.top,
                                                          .edges_max = edges,
                                                          .edges_of_folded = format == "text"});
  if (format == "text") return table::render_text(rows_of(options, graph), session.out);
  if (options.top > kDrawnMax)
    return base::Error{fmt::format("--top {}: a picture shows at most {}", options.top, kDrawnMax)};
  const std::string dot = blueprint::dot_view(graph, view);
  if (format == "dot") return dot;
  base::Result<std::string> svg = laid_out(dot);
  if (!svg || format == "svg") return svg;
  return blueprint::page_view(graph, view, profile, *std::move(svg));
}

int run(const Options& options, const Session& session) {
  protect_input(options.path);
  base::Result<std::string> text = base::read_text_file(options.path);
  if (!text) return fail(kExitInput, text.error().message);
  base::Result<blueprint::Profile> profile = blueprint::read_profile(*text);
  if (!profile) return fail(kExitInput, fmt::format("'{}' {}", options.path, profile.error().message));
  base::Result<std::string> content = content_of(options, *profile, session);
  if (!content) return fail(kExitImpossible, content.error().message);
  base::Status written = write_output(options.output, *content);
  if (!written) return fail(kExitOutput, written.error().message);
  tell_written(session, options.output);
  return kExitOk;
}

std::vector<std::string> metric_names() {
  std::vector<std::string> names;
  for (const blueprint::MetricName& metric : blueprint::kMetrics) names.emplace_back(metric.name);
  return names;
}

Run declare(OptionList& list) {
  auto options = std::make_shared<Options>();
  list.add_option("profile", options->path, "What contrafact profile wrote").value_name("FILE").required();
  list.add_option("-o,--output", options->output, "File to write; - is standard output")
      .value_name("FILE")
      .show_default();
  list.add_option("--format", options->format,
                  "Form of the output (csv: of everything); default: what the output's name ends with, else text")
      .check(one_of(std::vector<std::string>(std::begin(kFormats), std::end(kFormats))));
  list.add_option("--level", options->level, "What a rectangle is")
      .check(one_of({"method", "class", "package"}))
      .show_default();
  list.add_option("--width", options->width,
                  "Metric that is a rectangle's width (callees and callers: how many different ones)")
      .check(one_of(metric_names()))
      .show_default();
  list.add_option("--height", options->height, "Metric that is its height")
      .check(one_of(metric_names()))
      .show_default();
  list.add_option("--scale", options->scale, "Sides by the metric (linear) or by its square root (root)")
      .check(one_of({"linear", "root"}))
      .show_default();
  list.add_option("--top", options->top, "Rectangles to show, heaviest first; the others become one")
      .check(whole_number(1, 1'000'000))
      .show_default();
  list.add_option("--edges", options->edges, "Edges to draw, most calls first; 0: two for each rectangle")
      .check(whole_number(0, 10'000'000))
      .show_default();
  list.add_option("--rows", options->rows, "Of csv and text: what the rows are")
      .check(one_of({"nodes", "edges"}))
      .show_default();
  return [options](Session& session) { return run(*options, session); };
}

}  // namespace

const Command kBlueprintCommand{"blueprint", "Show a profile: who allocates how much, and who calls whom how often",
                                "contrafact blueprint profile.json -o blueprint.html\n"
                                "contrafact blueprint profile.json --level class --width calls-received --top 20\n"
                                "contrafact blueprint profile.json --rows edges -o calls.csv",
                                declare};

}  // namespace contrafact::cli
