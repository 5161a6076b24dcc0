#include "cli/manual_page.h"

#include <fmt/format.h>

#include <string_view>

#include "cli/version.h"

namespace contrafact::cli {
namespace {

// As roff shows it unchanged: no escapes, no request at a line's beginning, hyphens that can be copied.
std::string plain(std::string_view text) {
  std::string out;
  for (const char c : text) {
    const bool at_begin = out.empty() || out.back() == '\n';
    if (at_begin && (c == '.' || c == '\'')) out += "\\&";
    if (c == '\\') {
      out += "\\e";
    } else if (c == '-') {
      out += "\\-";
    } else {
      out += c;
    }
  }
  return out;
}

std::string bold(std::string_view text) {
  return "\\fB" + plain(text) + "\\fR";
}

std::string italic(std::string_view text) {
  return "\\fI" + plain(text) + "\\fR";
}

std::string title(std::string_view name, std::string_view summary) {
  return fmt::format(".TH \"{}\" 1 \"\" \"contrafact {}\" \"Contrafact\"\n.SH NAME\n{} \\- {}\n", plain(name), kVersion,
                     plain(name), plain(summary));
}

std::string value_of(const OptionFacts& option) {
  if (option.value_name.empty()) return "";
  return option.value_optional ? fmt::format("[={}]", italic(option.value_name)) : " " + italic(option.value_name);
}

std::string sentences_of(const OptionFacts& option) {
  std::string out = plain(option.description);
  for (size_t i = 0; i < option.choices.size(); ++i)
    out += (i == 0 ? "\n.br\nOne of " : ", ") + bold(option.choices[i]);
  if (!option.choices.empty()) out += ".";
  if (!option.shown_default.empty()) out += fmt::format("\n.br\nDefault: {}", bold(option.shown_default));
  return out + "\n";
}

std::string paragraph_of(const OptionFacts& option) {
  if (option.is_argument()) return ".TP\n" + italic(option.names.front()) + "\n" + sentences_of(option);
  std::string names;
  for (const std::string& name : option.names) names += (names.empty() ? "" : ", ") + bold(name);
  return ".TP\n" + names + value_of(option) + "\n" + sentences_of(option);
}

std::string synopsis_of(const CommandFacts& facts) {
  std::string out =
      fmt::format(".SH SYNOPSIS\n{} [{}]", bold(fmt::format("contrafact {}", facts.command->name)), italic("options"));
  for (const OptionFacts& option : facts.options) {
    if (!option.is_argument()) continue;
    const std::string name = italic(option.names.front()) + (option.repeatable ? " ..." : "");
    out += option.required ? " " + name : " [" + name + "]";
  }
  if (!facts.command->operands.empty()) out += " " + plain(facts.command->operands);
  return out + "\n";
}

std::string see_also(std::string_view pages) {
  return fmt::format(
      ".SH SEE ALSO\n{}\n.PP\n{} explains every column that is printed. The folder {} has the documents.\n", pages,
      bold("contrafact help tables"), italic("share/doc/contrafact/docs"));
}

std::string verbatim(std::string_view lines) {
  return ".nf\n" + plain(lines) + (lines.ends_with('\n') ? "" : "\n") + ".fi\n";
}

}  // namespace

std::string manual_page(const CommandTree& tree) {
  std::string out = title("contrafact", "a concurrency what-if profiler");
  out += ".SH SYNOPSIS\n" + bold("contrafact") + " " + italic("command") + " [" + italic("options") + "]\n";
  out += ".SH DESCRIPTION\n" + verbatim(tree.description) + ".SH COMMANDS\n";
  std::string pages;
  for (const CommandFacts& facts : tree.commands) {
    const std::string page = fmt::format("contrafact-{}", facts.command->name);
    out += ".TP\n" + bold(page) + "(1)\n" + plain(facts.command->summary) + "\n";
    pages += fmt::format("{}{}(1)", pages.empty() ? "" : ",\n", bold(page));
  }
  out += ".SH OPTIONS\n";
  for (const OptionFacts& option : tree.options) out += paragraph_of(option);
  return out + see_also(pages);
}

std::string manual_page(const CommandFacts& facts) {
  std::string out = title(fmt::format("contrafact-{}", facts.command->name), facts.command->summary);
  out += synopsis_of(facts);
  std::string arguments, options;
  for (const OptionFacts& option : facts.options) (option.is_argument() ? arguments : options) += paragraph_of(option);
  if (!arguments.empty()) out += ".SH ARGUMENTS\n" + arguments;
  out += ".SH OPTIONS\n" + options;
  out += ".SH EXAMPLES\n" + verbatim(facts.command->examples);
  return out + see_also(bold("contrafact") + "(1)");
}

}  // namespace contrafact::cli
