#include <fmt/format.h>

#include <memory>

#include "cli/commands.h"
#include "cli/exit_code.h"
#include "cli/output.h"
#include "cli/schemas.h"

namespace contrafact::cli {
namespace {

std::string list_of_commands() {
  std::string out = "usage: contrafact COMMAND [OPTIONS]\n\n";
  for (const Command& command : commands()) out += fmt::format("  {:10}{}\n", command.name, command.summary);
  return out +
         "\ncontrafact COMMAND --help tells more; contrafact help tables explains every column that is printed.\n\n"
         "examples:\n"
         "  contrafact record -o run.cft -- java -jar service.jar\n"
         "  contrafact advise run.cft\n"
         "  contrafact doctor\n";
}

std::string list_of_tables() {
  std::string out;
  for (const table::Schema* schema : all_schemas()) out += (out.empty() ? "" : "\n") + table::describe(*schema);
  return out;
}

int run(const std::string& topic) {
  std::string text;
  if (topic.empty()) text = list_of_commands();
  if (topic == "tables") text = list_of_tables();
  for (const Command& command : commands()) {
    if (command.name == topic) text = help_text(command);
  }
  if (text.empty()) return fail(kExitUsage, fmt::format("there is no command '{}'; contrafact help lists them", topic));
  base::Status printed = print(text);
  return printed.ok() ? kExitOk : fail(kExitOutput, printed.error().message);
}

Run declare(OptionList& list) {
  auto topic = std::make_shared<std::string>();
  list.add_option("topic", *topic, "a command, or tables: every column that is printed");
  return [topic](Session&) { return run(*topic); };
}

}  // namespace

const Command kHelpCommand{"help", "list the commands, explain one, or explain the tables",
                           "contrafact help\ncontrafact help record\ncontrafact help tables", declare};

}  // namespace contrafact::cli
