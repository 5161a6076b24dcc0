#include <fmt/format.h>
#include <fmt/ranges.h>

#include <string>
#include <string_view>

#include "cli/completion.h"

namespace contrafact::cli {
namespace {

constexpr const char* kFishBegin = R"(# fish completion for contrafact: `contrafact help --format fish` writes this.
function __contrafact_is --description 'Whether the command is this one (empty: none yet), and no program stands behind it'
    set -l command ''
    for word in (commandline -opc)[2..]
        test "$word" = -- && return 1
        if test -z "$command"; and not string match -q -- '-*' $word
            set command $word
        end
    end
    test "$command" = "$argv[1]"
end
function __contrafact_program --description 'The words behind --, if there are'
    set -l words (commandline -opc)
    set -l at (contains -i -- -- $words); or return 1
    string join \n -- $words[(math $at + 1)..]
    return 0
end
complete -c contrafact -f
complete -c contrafact -n __contrafact_program -a '(complete -C (string join " " -- (string escape -- (__contrafact_program)) (commandline -ct)))'
)";

std::string fish_quoted(std::string_view text) {
  std::string out = "'";
  for (const char c : text) {
    if (c == '\'' || c == '\\') out += '\\';
    out += c;
  }
  return out + "'";
}

std::string values(const OptionFacts& option, const CommandTree& tree) {
  switch (value_kind(option)) {
    case ValueKind::file:
      return " -F";
    case ValueKind::folder:
      return " -a '(__fish_complete_directories)'";
    case ValueKind::command:
      return fmt::format(" -a '{} tables'", command_names(tree));
    case ValueKind::words:
      return fmt::format(" -a '{}'", fmt::join(option.choices, " "));
    case ValueKind::none:
      break;
  }
  return "";
}

std::string line(std::string_view command, const OptionFacts& option, const CommandTree& tree) {
  std::string out = fmt::format("complete -c contrafact -n '__contrafact_is \"{}\"'", command);
  if (option.is_argument()) return out + values(option, tree) + "\n";
  for (const std::string& name : option.names) {
    out += name.starts_with("--") ? " -l " + name.substr(2) : " -s " + name.substr(1);
  }
  if (!option.value_name.empty() && !option.value_optional) out += " -r" + values(option, tree);
  return out + " -d " + fish_quoted(option.description) + "\n";
}

}  // namespace

std::string fish_completion(const CommandTree& tree) {
  std::string out = kFishBegin;
  for (const OptionFacts& option : tree.options) out += line("", option, tree);
  for (const CommandFacts& facts : tree.commands) {
    out += fmt::format("complete -c contrafact -n '__contrafact_is \"\"' -a {} -d {}\n", facts.command->name,
                       fish_quoted(facts.command->summary));
    for (const OptionFacts& option : facts.options) out += line(facts.command->name, option, tree);
  }
  return out;
}

}  // namespace contrafact::cli
