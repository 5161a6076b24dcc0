#include "cli/usage_errors.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <string_view>
#include <vector>

#include "cli/nearest.h"

namespace contrafact::cli {
namespace {

// What the parser could not place: an option that there is not, a program without its --, or one word too many.
std::string extra_words(const UsageError& error, const Command* command, bool program_given) {
  const std::vector<std::string>& words = error.words;
  const std::string first = words.empty() ? "" : words.front();
  const bool option = first.starts_with('-');
  std::vector<std::string_view> known(error.known.begin(), error.known.end());
  if (command == nullptr) {
    if (!option) known = command_names();
    return fmt::format("there is no {} '{}'; contrafact help lists the commands{}", option ? "option" : "command",
                       first, did_you_mean(first, known));
  }
  const bool no_program = command->operands.starts_with("--") && !program_given;
  if (option) {
    return fmt::format("{0} has no option '{1}'; contrafact {0} --help lists them{2}{3}", command->name, first,
                       no_program ? ", and the program stands behind -- with its own" : "",
                       did_you_mean(first.substr(0, first.find('=')), known));
  }
  if (no_program) {
    return fmt::format("the program must stand behind --, as in: contrafact {} -o FILE -- {}", command->name,
                       fmt::join(words, " "));
  }
  return fmt::format("'{0}' is one argument too many for {1}; contrafact {1} --help says what it takes", first,
                     command->name);
}

}  // namespace

std::string usage_message(const UsageError& error, const Command* command, bool program_given) {
  if (error.kind == UsageError::Kind::extra_words) return extra_words(error, command, program_given);
  std::string message = error.message;
  while (!message.empty() && (message.back() == '\n' || message.back() == '.')) message.pop_back();
  if (command == nullptr) return message + "; contrafact help lists the commands";
  // The parser's own texts begin with the name of what they speak of.
  const std::string name = message.substr(0, message.find_first_of(": "));
  const std::string_view example = command->examples.substr(0, command->examples.find('\n'));
  if (error.kind == UsageError::Kind::bad_value) return message;
  if (error.kind == UsageError::Kind::missing) {
    return fmt::format("{}: {} is missing, as in: {}", command->name, name, example);
  }
  if (error.kind == UsageError::Kind::number_of_values) {
    if (name.starts_with('-')) {
      return fmt::format("{} {} takes one value{}", command->name, name,
                         error.repeatable ? fmt::format(" each time: {0} A {0} B", name) : ", once");
    }
    return fmt::format("{}: not the right number of arguments, as in: {}", command->name, example);
  }
  return fmt::format("{}; contrafact {} --help lists the options", message, command->name);
}

}  // namespace contrafact::cli
