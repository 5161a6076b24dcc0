#include "cli/commands.h"
#include "cli/child_process.h"
#include "cli/command_tree.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <map>
#include <utility>

#include "cli/exit_code.h"
#include "cli/help_text.h"
#include "cli/installation.h"
#include "cli/options.h"
#include "cli/output.h"
#include "cli/usage_errors.h"
#include "cli/version.h"
#include "table/prose.h"
#include "table/terminal.h"
#include "table/value_text.h"

namespace contrafact::cli {
namespace {

constexpr const char* kDescription =
    "Contrafact records one run of a program and predicts what changes of its concurrency would gain.\n"
    "\n"
    "    contrafact record -o run.cft -- java -jar service.jar\n"
    "    contrafact advise run.cft\n"
    "\n"
    "    contrafact record --sets -o run.cft -- pbzip2 -p8 -k big.iso\n"
    "    contrafact ulc run.cft\n";

struct CommonFlags {
  bool quiet = false;
  bool no_color = false;
};

constexpr const char* kVersionFlag = "Print the version";

// Gives `parser` all that the command line of `command` may hold.
Run declare(const Command& command, Parser& parser, CommonFlags& flags) {
  OptionList list = parser.options();
  Run run = command.declare(list);
  list.add_flag("-q,--quiet", flags.quiet, "Print only results and errors: no progress, no notes, no summary");
  list.add_flag("--no-color", flags.no_color, "Print no colours; likewise with the variable NO_COLOR");
  return run;
}

// Null if there is none of that name.
const Command* command_named(std::string_view name) {
  const auto at = std::ranges::find(commands(), name, &Command::name);
  return at == commands().end() ? nullptr : &*at;
}

}  // namespace

const std::vector<Command>& commands() {
  static const std::vector<Command> list{
      kRecordCommand,  kJoinCommand,   kInfoCommand,        kAdviseCommand,  kEstimateCommand,  kCompareCommand,
      kMetricsCommand, kTasksCommand,  kGranularityCommand, kLoadCommand,    kLocksCommand,     kUlcCommand,
      kFlowCommand,    kReplayCommand, kExportCommand,      kProfileCommand, kBlueprintCommand, kContextsCommand,
      kDoctorCommand,  kHelpCommand,   kVersionCommand};
  return list;
}

std::vector<std::string_view> command_names() {
  std::vector<std::string_view> names;
  for (const Command& command : commands()) names.push_back(command.name);
  return names;
}

CommandTree command_tree() {
  Parser whole("contrafact", kDescription);
  bool version = false;
  whole.options().add_flag("--version", version, kVersionFlag);
  CommandTree tree{.description = kDescription, .options = whole.option_facts()};
  for (const Command& command : commands()) {
    Parser parser("contrafact " + std::string(command.name), std::string(command.summary));
    CommonFlags flags;
    declare(command, parser, flags);
    tree.commands.push_back({.command = &command, .options = parser.option_facts()});
  }
  return tree;
}

std::string help_of(std::string_view command, size_t width) {
  const CommandTree tree = command_tree();
  if (command.empty()) return help_text(tree, width);
  for (const CommandFacts& facts : tree.commands) {
    if (facts.command->name == command) return help_text(facts, width);
  }
  return "";
}

void say(std::string_view line) {
  const size_t width = table::style_for(STDERR_FILENO, table::Colour::never).prose;
  std::fprintf(stderr, "%s\n", table::wrap_prose(table::printable(line, true), width).c_str());
}

void say_lines(std::string_view lines) {
  while (!lines.empty()) {
    const size_t end = lines.find('\n');
    say(lines.substr(0, end));
    lines.remove_prefix(end == std::string_view::npos ? lines.size() : end + 1);
  }
}

int fail(int status, std::string_view message) {
  say(fmt::format("contrafact: {}", message));
  return status;
}

void tell(const Session& session, std::string_view message) {
  if (session.quiet) return;
  say(fmt::format("contrafact: {}", message));
}

void tell_written(const Session& session, const std::string& path) {
  if (path != "-") tell(session, "wrote " + path);
}

void note(const Session& session, std::string_view message) {
  if (session.quiet) return;
  say(fmt::format("contrafact: note: {}", message));
}

int run_tool(int argc, const char* const* argv) {
  keep_inherited_signals();
  std::signal(SIGPIPE, SIG_IGN);  // a pipe that was closed early is seen by write, and is no error
  std::signal(SIGXFSZ, SIG_IGN);  // so is a file that may not grow any more
  Session session;
  session.self = self_path();
  std::vector<std::string> own;
  int i = 1;
  for (; i < argc && std::string_view(argv[i]) != "--"; ++i) own.emplace_back(argv[i]);
  for (++i; i < argc; ++i) session.program.emplace_back(argv[i]);
  for (const std::string& word : own) {  // the parser would take it for an option without a value
    if (word.starts_with("--") && word.find('=') == word.size() - 1) {
      return fail(kExitUsage, fmt::format("'{}': the value behind = is missing", word));
    }
  }

  Parser parser("contrafact", kDescription);
  CommonFlags flags;
  bool version = false;
  parser.options().add_flag("--version", version, kVersionFlag);
  std::map<std::string_view, Run> runs;
  for (const Command& command : commands()) {
    Parser& sub = parser.add_command(std::string(command.name), std::string(command.summary));
    runs[command.name] = declare(command, sub, flags);
  }
  const Parsed parsed = parser.parse(std::move(own));
  const Command* command = command_named(parsed.command);
  if (parsed.help_wanted) {
    const size_t width = table::style_for(STDOUT_FILENO, table::Colour::never).width;
    return print(help_of(command == nullptr ? "" : command->name, width)).ok() ? kExitOk : kExitOutput;
  }
  if (parsed.error) return fail(kExitUsage, usage_message(*parsed.error, command, !session.program.empty()));
  if (version) return print(fmt::format("contrafact {}\n", kVersion)).ok() ? kExitOk : kExitOutput;
  if (command == nullptr) {
    std::fputs(help_of("", table::style_for(STDERR_FILENO, table::Colour::never).width).c_str(), stderr);
    return kExitUsage;
  }
  if (!session.program.empty() && !command->operands.starts_with("--")) {
    return fail(kExitUsage, fmt::format("{} takes nothing behind --", command->name));
  }
  table::Colour colour = flags.no_color ? table::Colour::never : table::Colour::automatic;
  session.out = table::style_for(STDOUT_FILENO, colour);
  session.err = table::style_for(STDERR_FILENO, colour);
  session.quiet = flags.quiet;
  session.progress = ::isatty(STDERR_FILENO) != 0 && !flags.quiet;
  return runs[command->name](session);
}

}  // namespace contrafact::cli
