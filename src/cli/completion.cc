#include "cli/completion.h"

namespace contrafact::cli {

ValueKind value_kind(const OptionFacts& option) {
  if (!option.choices.empty()) return ValueKind::words;
  if (option.value_name.ends_with("FILE")) return ValueKind::file;
  if (option.value_name == "DIR") return ValueKind::folder;
  if (option.value_name == "COMMAND") return ValueKind::command;
  return ValueKind::none;
}

std::string command_names(const CommandTree& tree) {
  std::string out;
  for (const CommandFacts& facts : tree.commands) {
    if (!out.empty()) out += ' ';
    out += facts.command->name;
  }
  return out;
}

}  // namespace contrafact::cli
