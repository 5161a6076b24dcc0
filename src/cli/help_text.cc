#include "cli/help_text.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <string_view>

#include "table/prose.h"
#include "table/value_text.h"

namespace contrafact::cli {
namespace {

constexpr size_t kIndent = 2;
constexpr size_t kWidthMaximum = 100;  // longer lines are hard to read

std::string in_capitals(std::string text) {
  std::ranges::transform(text, text.begin(),
                         [](char c) { return c >= 'a' && c <= 'z' ? static_cast<char>(c - 32) : c; });
  return text;
}

// "TRACE", "TRACE...", "[SETS]", "TRACES{2..3}" is not said: "TRACE TRACE [TRACE]".
std::string argument_text(const OptionFacts& argument) {
  constexpr int kListedMax = 4;
  const std::string name = in_capitals(argument.names.front());
  if (argument.values_most <= 1) return argument.required ? name : fmt::format("[{}]", name);
  if (argument.values_most > kListedMax) return name + "...";
  std::string text;
  for (int i = 0; i < argument.values_most; ++i)
    text += fmt::format("{}{}", i > 0 ? " " : "", i < argument.values_least ? name : fmt::format("[{}]", name));
  return text;
}

std::string usage_text(const CommandFacts& facts) {
  std::string text = fmt::format("Usage: contrafact {} [OPTIONS]", facts.command->name);
  if (!facts.command->operands.empty()) return fmt::format("{} {}\n", text, facts.command->operands);
  for (const OptionFacts& option : facts.options) {
    if (option.is_argument()) text += " " + argument_text(option);
  }
  return text + "\n";
}

// "-o, --output FILE"; a long name alone stands below the other long ones.
std::string names_text(const OptionFacts& option) {
  if (option.is_argument()) return in_capitals(option.names.front());
  std::string text =
      fmt::format("{}{}", option.names.front().starts_with("--") ? "    " : "", fmt::join(option.names, ", "));
  if (option.value_name.empty()) return text;
  return text + (option.value_optional ? fmt::format("[={}]", option.value_name) : " " + option.value_name);
}

std::string description_text(const OptionFacts& option) {
  std::string text = option.description;
  if (!option.choices.empty()) text += fmt::format(" [one of: {}]", fmt::join(option.choices, ", "));
  if (!option.shown_default.empty()) text += fmt::format(" [default: {}]", option.shown_default);
  if (option.required && !option.is_argument()) text += " [required]";
  if (!option.excludes.empty()) text += fmt::format(" [not with: {}]", fmt::join(option.excludes, ", "));
  return text;
}

std::string entries(std::string_view heading, const std::vector<OptionFacts>& options, bool arguments, size_t width) {
  constexpr size_t kLeftWidth = 24;
  std::string text;
  for (const OptionFacts& option : options) {
    if (option.is_argument() != arguments) continue;
    text += table::explained(names_text(option), description_text(option), kLeftWidth, width);
  }
  return text.empty() ? "" : fmt::format("\n{}:\n{}", heading, text);
}

std::string examples_text(std::string_view lines) {
  std::string text = "\nExamples:\n";
  while (!lines.empty()) {
    const size_t end = std::min(lines.find('\n'), lines.size());
    text += fmt::format("{}{}\n", std::string(kIndent, ' '), lines.substr(0, end));
    lines.remove_prefix(std::min(end + 1, lines.size()));
  }
  return text;
}

size_t readable(size_t width) {
  return width == 0 ? kWidthMaximum : std::min(width, kWidthMaximum);
}

}  // namespace

std::string help_text(const CommandTree& tree, size_t width) {
  constexpr size_t kNameWidth = 11;
  width = readable(width);
  std::string text = table::wrap_prose(tree.description, width) + "\nUsage: contrafact COMMAND [OPTIONS]\n";
  text += entries("Options", tree.options, false, width);
  text += "\nCommands:\n";
  for (const CommandFacts& facts : tree.commands)
    text += table::explained(std::string(facts.command->name), std::string(facts.command->summary), kNameWidth, width);
  return text + "\n" +
         table::wrap_prose(
             "contrafact COMMAND --help tells more; contrafact help tables explains every column that is "
             "printed.\n",
             width);
}

std::string help_text(const CommandFacts& facts, size_t width) {
  width = readable(width);
  return table::wrap_prose(fmt::format("{}\n\n{}", facts.command->summary, usage_text(facts)), width) +
         entries("Arguments", facts.options, true, width) + entries("Options", facts.options, false, width) +
         examples_text(facts.command->examples);
}

}  // namespace contrafact::cli
