#include <fmt/format.h>

#include <filesystem>
#include <memory>

#include "base/file.h"
#include "cli/commands.h"
#include "cli/exit_code.h"
#include "cli/option_values.h"
#include "cli/output.h"
#include "contexts/views.h"
#include "table/render.h"

namespace contrafact::cli {
namespace {

namespace fs = std::filesystem;

constexpr const char* kFormats[] = {"text", "csv", "folded"};

struct Options {
  std::string path;
  std::string output = "-";
  std::string format;  // empty: by the output's name
  std::string by = "bytes";
  size_t top = 40;
};

std::string format_of(const Options& options) {
  if (!options.format.empty()) return options.format;
  const std::string extension = fs::path(options.output).extension().string();
  for (const char* format : kFormats) {
    if (extension == std::string(".") + format) return format;
  }
  return "text";
}

int run(const Options& options, const Session& session) {
  protect_input(options.path);
  base::Result<std::string> text = base::read_text_file(options.path);
  if (!text) return fail(kExitInput, text.error().message);
  base::Result<contexts::Profile> profile = contexts::read_profile(*text);
  if (!profile) return fail(kExitInput, fmt::format("'{}' {}", options.path, profile.error().message));
  const contexts::Metric by = *contexts::metric_of(options.by);
  const std::string format = format_of(options);
  // For other programs: everything.
  const std::string content = format == "csv" ? table::render_csv(contexts::context_table(*profile))
                              : format == "folded"
                                  ? contexts::folded(*profile, by)
                                  : table::render_text(contexts::tree_table(*profile, by, options.top), session.out);
  base::Status written = write_output(options.output, content);
  if (!written) return fail(kExitOutput, written.error().message);
  tell_written(session, options.output);
  return kExitOk;
}

Run declare(OptionList& list) {
  auto options = std::make_shared<Options>();
  list.add_option("profile", options->path, "What contrafact profile --analysis contexts wrote")
      .value_name("FILE")
      .required();
  list.add_option("-o,--output", options->output, "File to write; - is standard output")
      .value_name("FILE")
      .show_default();
  list.add_option(
          "--format", options->format,
          "Form of the output (csv: of every context; folded: stacks for flame graphs); default: what the output's "
          "name ends with, else text")
      .check(one_of(std::vector<std::string>(std::begin(kFormats), std::end(kFormats))));
  list.add_option("--by", options->by, "What the heaviest are chosen and ordered by")
      .check(one_of(std::vector<std::string>(std::begin(contexts::kMetricNames), std::end(contexts::kMetricNames))))
      .show_default();
  list.add_option("--top", options->top, "Contexts to show, heaviest first")
      .check(whole_number(1, 1'000'000))
      .show_default();
  return [options](Session& session) { return run(*options, session); };
}

}  // namespace

const Command kContextsCommand{"contexts", "Show a profile of contexts: on which paths of calls how much is allocated",
                               "contrafact contexts contexts.json\n"
                               "contrafact contexts contexts.json --by calls --top 100\n"
                               "contrafact contexts contexts.json -o stacks.folded",
                               declare};

}  // namespace contrafact::cli
