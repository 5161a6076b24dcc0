#include <fmt/format.h>
#include <fmt/ranges.h>

#include <string>
#include <vector>

#include "cli/completion.h"

namespace contrafact::cli {
namespace {

constexpr const char* kBashBegin = R"(# bash completion for contrafact: `contrafact help --format bash` writes this.
_contrafact_files() { compopt -o filenames 2>/dev/null; mapfile -t COMPREPLY < <(compgen -f -- "$1"); }
_contrafact_folders() { compopt -o filenames 2>/dev/null; mapfile -t COMPREPLY < <(compgen -d -- "$1"); }
_contrafact_words() { mapfile -t COMPREPLY < <(compgen -W "$2" -- "$1"); }
_contrafact() {
  local current=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD-1]} command= i
  COMPREPLY=()
  for ((i = 1; i < COMP_CWORD; ++i)); do
    if [[ ${COMP_WORDS[i]} == -- ]]; then  # the program to run, and what is its own
      if ((i + 1 == COMP_CWORD)); then mapfile -t COMPREPLY < <(compgen -c -- "$current"); fi
      if ((${#COMPREPLY[@]} == 0)); then _contrafact_files "$current"; fi
      return
    fi
    if [[ -z $command && ${COMP_WORDS[i]} != -* ]]; then command=${COMP_WORDS[i]}; fi
  done
  # The shell takes --option=value for three words.
  if [[ $previous == = ]]; then previous=${COMP_WORDS[COMP_CWORD-2]}; fi
  if [[ $current == = ]]; then current=; fi
)";

constexpr const char* kBashEnd = R"(}
complete -F _contrafact contrafact
)";

std::string completed(const OptionFacts& option, const CommandTree& tree) {
  switch (value_kind(option)) {
    case ValueKind::file:
      return "_contrafact_files \"$current\"";
    case ValueKind::folder:
      return "_contrafact_folders \"$current\"";
    case ValueKind::command:
      return fmt::format("_contrafact_words \"$current\" '{} tables'", command_names(tree));
    case ValueKind::words:
      return fmt::format("_contrafact_words \"$current\" '{}'", fmt::join(option.choices, " "));
    case ValueKind::none:
      break;
  }
  return ":";
}

// The lines for what stands behind an option that takes a value.
std::string values_of(const CommandFacts& facts, const CommandTree& tree) {
  std::string out;
  for (const OptionFacts& option : facts.options) {
    if (option.is_argument() || option.value_name.empty() || option.value_optional) continue;
    std::string patterns;
    for (const std::string& name : option.names) {
      patterns += fmt::format("{}'{} {}'", patterns.empty() ? "" : " | ", facts.command->name, name);
    }
    out += fmt::format("    {}) {}; return ;;\n", patterns, completed(option, tree));
  }
  return out;
}

}  // namespace

std::string bash_completion(const CommandTree& tree) {
  std::string values, options, arguments;
  for (const CommandFacts& facts : tree.commands) {
    values += values_of(facts, tree);
    std::vector<std::string> names;
    for (const OptionFacts& option : facts.options) {
      if (option.is_argument()) {
        arguments += fmt::format("    {}) {} ;;\n", facts.command->name, completed(option, tree));
      } else {
        names.insert(names.end(), option.names.begin(), option.names.end());
      }
    }
    if (!facts.command->operands.empty()) names.emplace_back("--");
    options +=
        fmt::format("      {}) _contrafact_words \"$current\" '{}' ;;\n", facts.command->name, fmt::join(names, " "));
  }
  std::vector<std::string> names;
  for (const OptionFacts& option : tree.options) names.insert(names.end(), option.names.begin(), option.names.end());
  options += fmt::format("      '') _contrafact_words \"$current\" '{}' ;;\n", fmt::join(names, " "));
  arguments += fmt::format("    '') _contrafact_words \"$current\" '{}' ;;\n", command_names(tree));
  return fmt::format(
      "{}  case \"$command $previous\" in\n{}  esac\n  if [[ $current == -* ]]; then\n    case $command in\n{}    "
      "esac\n"
      "    return\n  fi\n  case $command in\n{}  esac\n{}",
      kBashBegin, values, options, arguments, kBashEnd);
}

}  // namespace contrafact::cli
