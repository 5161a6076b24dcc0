#include "cli/child_process.h"
#include "cli/commands.h"

#include <fmt/format.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <memory>

#include "cli/exit_code.h"
#include "cli/installation.h"
#include "cli/output.h"
#include "cli/usage_errors.h"
#include "cli/version.h"
#include "table/terminal.h"
#include "table/value_text.h"

namespace contrafact::cli {
namespace {

constexpr const char* kDescription =
    "contrafact records one run of a program and predicts what changes of its concurrency would gain.\n"
    "\n"
    "    contrafact record -o run.cft -- java -jar service.jar\n"
    "    contrafact advise run.cft\n"
    "\n"
    "    contrafact record --sets -o run.cft -- pbzip2 -p8 -k big.iso\n"
    "    contrafact ulc run.cft\n";

// Says in the usage line what follows the options.
class HelpFormatter : public CLI::Formatter {
 public:
  explicit HelpFormatter(std::string_view operands) : operands_(operands) {}
  std::string make_usage(const CLI::App* app, std::string name) const override {
    if (operands_.empty()) return Formatter::make_usage(app, std::move(name));
    return fmt::format("Usage: {} [OPTIONS] {}\n", name, operands_);
  }

 private:
  std::string operands_;
};

// The parsed command and what it is to do.
struct Chosen {
  const Command* command = nullptr;
  Run run;
};

std::string indented(std::string_view lines) {
  std::string out = "examples:\n";
  for (size_t begin = 0; begin < lines.size();) {
    size_t end = std::min(lines.find('\n', begin), lines.size());
    out += "  " + std::string(lines.substr(begin, end - begin)) + "\n";
    begin = end + 1;
  }
  return out;
}

struct CommonFlags {
  bool quiet = false;
  bool no_color = false;
};

// Gives `app` all that the command line of `command` may hold.
Run declare(const Command& command, CLI::App& app, CommonFlags& flags) {
  app.footer(indented(command.examples));
  app.formatter(std::make_shared<HelpFormatter>(command.operands));
  Run run = command.declare(app);
  app.add_flag("-q,--quiet", flags.quiet, "only results and errors: no progress, no notes, no summary");
  app.add_flag("--no-color", flags.no_color, "no colours (also: the variable NO_COLOR)");
  return run;
}

void add_commands(CLI::App& app, CommonFlags& flags, Chosen& chosen) {
  app.require_subcommand(0, 1);
  for (const Command& command : commands()) {
    CLI::App* sub = app.add_subcommand(std::string(command.name), std::string(command.summary));
    Run run = declare(command, *sub, flags);
    sub->callback([&chosen, &command, run = std::move(run)] { chosen = {&command, run}; });
  }
}

// The command that was named, whether or not its options could be parsed.
const Command* named_command(const CLI::App& app) {
  for (const CLI::App* sub : app.get_subcommands()) {
    for (const Command& command : commands()) {
      if (sub->get_name() == command.name) return &command;
    }
  }
  return nullptr;
}

}  // namespace

const std::vector<Command>& commands() {
  static const std::vector<Command> list{kRecordCommand,    kInfoCommand,    kAdviseCommand, kEstimateCommand,
                                         kCompareCommand,   kMetricsCommand, kTasksCommand,  kLocksCommand,
                                         kUlcCommand,       kReplayCommand,  kExportCommand, kProfileCommand,
                                         kBlueprintCommand, kDoctorCommand,  kHelpCommand,   kVersionCommand};
  return list;
}

std::string help_text(const Command& command) {
  CLI::App app(std::string(command.summary), "contrafact " + std::string(command.name));
  CommonFlags flags;
  declare(command, app, flags);
  std::string text = app.help();
  while (text.ends_with("\n\n")) text.pop_back();
  return text;
}

int fail(int status, std::string_view message) {
  std::fprintf(stderr, "contrafact: %s\n", table::printable(message, true).c_str());
  return status;
}

void tell(const Session& session, std::string_view message) {
  if (session.quiet) return;
  std::fprintf(stderr, "contrafact: %s\n", table::printable(message, true).c_str());
}

void tell_written(const Session& session, const std::string& path) {
  if (path != "-") tell(session, "wrote " + path);
}

void note(const Session& session, std::string_view message) {
  if (session.quiet) return;
  std::fprintf(stderr, "contrafact: note: %s\n", table::printable(message, true).c_str());
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
  std::reverse(own.begin(), own.end());  // as CLI11 wants it

  CLI::App app(kDescription, "contrafact");
  CommonFlags flags;
  Chosen chosen;
  bool version = false;
  app.add_flag("--version", version, "print the version");
  app.footer("contrafact COMMAND --help tells more; contrafact help tables explains every column that is printed.\n");
  add_commands(app, flags, chosen);
  try {
    app.parse(own);
  } catch (const CLI::CallForHelp&) {
    const Command* command = named_command(app);
    return print(command == nullptr ? app.help() : help_text(*command)).ok() ? kExitOk : kExitOutput;
  } catch (const CLI::ParseError& error) {
    return fail(kExitUsage, usage_message(app, error, named_command(app), !session.program.empty()));
  }
  if (version) return print(fmt::format("contrafact {}\n", kVersion)).ok() ? kExitOk : kExitOutput;
  if (chosen.command == nullptr) {
    std::fputs(app.help().c_str(), stderr);
    return kExitUsage;
  }
  if (!session.program.empty() && !chosen.command->operands.starts_with("--")) {
    return fail(kExitUsage, fmt::format("{} takes nothing behind --", chosen.command->name));
  }
  table::Colour colour = flags.no_color ? table::Colour::never : table::Colour::automatic;
  session.out = table::style_for(STDOUT_FILENO, colour);
  session.err = table::style_for(STDERR_FILENO, colour);
  session.quiet = flags.quiet;
  session.progress = ::isatty(STDERR_FILENO) != 0 && !flags.quiet;
  return chosen.run(session);
}

}  // namespace contrafact::cli
