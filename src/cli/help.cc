#include <fmt/format.h>

#include <memory>

#include "cli/command_tree.h"
#include "cli/commands.h"
#include "cli/completion.h"
#include "cli/exit_code.h"
#include "cli/manual_page.h"
#include "cli/nearest.h"
#include "cli/option_values.h"
#include "cli/output.h"
#include "cli/schemas.h"

namespace contrafact::cli {
namespace {

std::string list_of_tables(size_t width) {
  std::string out;
  for (const table::Schema* schema : all_schemas()) out += (out.empty() ? "" : "\n") + table::describe(*schema, width);
  return out;
}

std::string explained(const std::string& topic, size_t width) {
  return topic == "tables" ? list_of_tables(width) : help_of(topic, width);
}

std::string manual(const std::string& topic) {
  const CommandTree tree = command_tree();
  if (topic.empty()) return manual_page(tree);
  for (const CommandFacts& facts : tree.commands) {
    if (facts.command->name == topic) return manual_page(facts);
  }
  return "";
}

std::string names() {
  std::string out;
  for (const Command& command : commands()) out += std::string(command.name) + "\n";
  return out;
}

struct Options {
  std::string topic;
  std::string format = "text";
};

int run(const Options& options, const Session& session) {
  const std::string& topic = options.topic;
  const bool whole = options.format != "text" && options.format != "man";
  if (whole && !topic.empty()) {
    return fail(kExitUsage, fmt::format("--format {} is of all commands: leave out '{}'", options.format, topic));
  }
  std::string text;
  if (options.format == "text") text = explained(topic, session.out.width);
  if (options.format == "man") text = manual(topic);
  if (options.format == "bash") text = bash_completion(command_tree());
  if (options.format == "zsh") text = zsh_completion(command_tree());
  if (options.format == "fish") text = fish_completion(command_tree());
  if (options.format == "names") text = names();
  if (text.empty()) {
    std::vector<std::string_view> known = command_names();
    known.push_back("tables");
    return fail(kExitUsage, fmt::format("there is no command '{}'; contrafact help lists them{}", topic,
                                        did_you_mean(topic, known)));
  }
  base::Status printed = print(text);
  return printed.ok() ? kExitOk : fail(kExitOutput, printed.error().message);
}

Run declare(OptionList& list) {
  auto options = std::make_shared<Options>();
  list.add_option("topic", options->topic, "A command, or tables: every column that is printed").value_name("COMMAND");
  list.add_option(
          "--format", options->format,
          "Form of the output; man: a manual page; bash, zsh, fish: what makes that shell complete; names: of the "
          "commands")
      .check(one_of({"text", "man", "bash", "zsh", "fish", "names"}))
      .show_default();
  return [options](Session& session) { return run(*options, session); };
}

}  // namespace

const Command kHelpCommand{"help", "List the commands, explain one, or explain the tables",
                           "contrafact help record\ncontrafact help tables\nsource <(contrafact help --format bash)",
                           declare};

}  // namespace contrafact::cli
