#include <fmt/format.h>
#include <fmt/ranges.h>

#include <string>
#include <string_view>

#include "cli/completion.h"

namespace contrafact::cli {
namespace {

std::string zsh_quoted(std::string_view text) {
  std::string out = "'";
  for (const char c : text) out += c == '\'' ? "'\\''" : std::string(1, c);
  return out + "'";
}

// As _arguments wants a description.
std::string escaped(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (std::string_view("[]:\\").find(c) != std::string_view::npos) out += '\\';
    out += c;
  }
  return out;
}

// What _arguments calls an action.
std::string action(const OptionFacts& option, const CommandTree& tree) {
  switch (value_kind(option)) {
    case ValueKind::file:
      return "_files";
    case ValueKind::folder:
      return "_files -/";
    case ValueKind::command:
      return fmt::format("({} tables)", command_names(tree));
    case ValueKind::words:
      return fmt::format("({})", fmt::join(option.choices, " "));
    case ValueKind::none:
      break;
  }
  return "";
}

// `place`: of an argument among the command's, from 1 on.
std::string specification(const OptionFacts& option, const CommandTree& tree, size_t place) {
  if (option.is_argument()) {
    const std::string number = option.repeatable ? "*" : fmt::format("{}{}", place, option.required ? "" : ":");
    return zsh_quoted(fmt::format("{}:{}:{}", number, option.names.front(), action(option, tree)));
  }
  std::string value;
  if (option.value_optional) value = "::value:";
  if (!option.value_name.empty() && !option.value_optional) value = ":value:" + action(option, tree);
  std::string out;
  for (const std::string& name : option.names) {
    const bool is_long = name.starts_with("--");
    const char* joined = option.value_name.empty() ? "" : option.value_optional ? "=-" : is_long ? "=" : "";
    const std::string excluded = option.repeatable ? "*" : fmt::format("({})", fmt::join(option.names, " "));
    out += (out.empty() ? "" : " ") +
           zsh_quoted(fmt::format("{}{}{}[{}]{}", excluded, name, joined, escaped(option.description), value));
  }
  return out;
}

}  // namespace

std::string zsh_completion(const CommandTree& tree) {
  std::string out =
      "#compdef contrafact\n"
      "# zsh completion for contrafact: `contrafact help --format zsh` writes this.\n"
      "_contrafact_program() {\n"
      "  if [[ $words[1] == -- ]]; then shift words; ((CURRENT--)); fi\n"
      "  if ((CURRENT == 1)); then _command_names -e; else _normal; fi\n"
      "}\n"
      "_contrafact() {\n"
      "  local curcontext=$curcontext state line\n"
      "  typeset -A opt_args\n"
      "  local -a command_names=(\n";
  for (const CommandFacts& facts : tree.commands) {
    out += "    " + zsh_quoted(fmt::format("{}:{}", facts.command->name, facts.command->summary)) + "\n";
  }
  out += "  )\n  _arguments -C";
  for (const OptionFacts& option : tree.options) out += " \\\n    " + specification(option, tree, 0);
  out +=
      " \\\n    '1:command:->command' '*::argument:->arguments'\n"
      "  case $state in\n"
      "    command) _describe -t commands command command_names ;;\n"
      "    arguments)\n"
      "      case $words[1] in\n";
  for (const CommandFacts& facts : tree.commands) {
    out += fmt::format("        {})\n          _arguments -S", facts.command->name);
    size_t arguments = 0;
    for (const OptionFacts& option : facts.options) {
      arguments += option.is_argument();
      out += " \\\n            " + specification(option, tree, arguments);
    }
    if (!facts.command->operands.empty()) out += " \\\n            '*::program:_contrafact_program'";
    out += " ;;\n";
  }
  return out +
         "      esac ;;\n"
         "  esac\n"
         "}\n"
         "if [[ $funcstack[1] == _contrafact ]]; then _contrafact \"$@\"; else compdef _contrafact contrafact; fi\n";
}

}  // namespace contrafact::cli
