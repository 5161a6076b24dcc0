#include "cli/commands.h"

#include <fmt/format.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>

#include "cli/exit_code.h"
#include "cli/installation.h"
#include "cli/output.h"
#include "cli/version.h"
#include "table/terminal.h"
#include "table/value_text.h"

namespace contrafact::cli {
namespace {

constexpr const char* kDescription =
    "contrafact records one run of a JVM program and predicts what restructuring its tasks would gain.\n"
    "\n"
    "    contrafact record -o run.cft -- java -jar service.jar\n"
    "    contrafact advise run.cft\n";

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

void add_commands(CLI::App& app, CommonFlags& flags, Chosen& chosen) {
  app.require_subcommand(0, 1);
  for (const Command& command : commands()) {
    CLI::App* sub = app.add_subcommand(std::string(command.name), std::string(command.summary));
    sub->footer(indented(command.examples));
    Run run = command.declare(*sub);
    sub->add_flag("-q,--quiet", flags.quiet, "no progress and no summaries on standard error");
    sub->add_flag("--no-color", flags.no_color, "no colours (also: the variable NO_COLOR)");
    sub->callback([&chosen, &command, run = std::move(run)] { chosen = {&command, run}; });
  }
}

// CLI11's message as one line, with the way to the help.
int usage_error(const CLI::App& app, const CLI::ParseError& error) {
  std::string name = "contrafact";
  for (const CLI::App* sub : app.get_subcommands()) name += " " + sub->get_name();
  std::string message = error.what();
  while (!message.empty() && (message.back() == '\n' || message.back() == '.')) message.pop_back();
  return fail(kExitUsage, fmt::format("{} ({} --help lists the options)", message, name));
}

}  // namespace

const std::vector<Command>& commands() {
  static const std::vector<Command> list{kRecordCommand,  kInfoCommand,      kAdviseCommand, kEstimateCommand,
                                         kCompareCommand, kMetricsCommand,   kTasksCommand,  kExportCommand,
                                         kProfileCommand, kBlueprintCommand, kDoctorCommand, kHelpCommand,
                                         kVersionCommand};
  return list;
}

int fail(int status, std::string_view message) {
  std::fprintf(stderr, "contrafact: %s\n", table::printable(message, true).c_str());
  return status;
}

void warn(std::string_view message) {
  std::fprintf(stderr, "contrafact: note: %s\n", table::printable(message, true).c_str());
}

int run_tool(int argc, const char* const* argv) {
  std::signal(SIGPIPE, SIG_IGN);  // a pipe that was closed early is seen by write, and is no error
  Session session;
  session.self = self_path();
  std::vector<std::string> own;
  int i = 1;
  for (; i < argc && std::string_view(argv[i]) != "--"; ++i) own.emplace_back(argv[i]);
  for (++i; i < argc; ++i) session.program.emplace_back(argv[i]);
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
    bool whole = app.get_subcommands().empty();
    std::string text = whole ? app.help() : app.get_subcommands().front()->help("contrafact");
    return print(text).ok() ? kExitOk : kExitOutput;
  } catch (const CLI::ExtrasError& error) {
    if (!app.get_subcommands().empty()) return usage_error(app, error);
    return fail(kExitUsage, fmt::format("there is no command '{}'; contrafact help lists them", argv[1]));
  } catch (const CLI::ParseError& error) {
    return usage_error(app, error);
  }
  if (version) return print(fmt::format("contrafact {}\n", kVersion)).ok() ? kExitOk : kExitOutput;
  if (chosen.command == nullptr) {
    std::fputs(app.help().c_str(), stderr);
    return kExitUsage;
  }
  const bool runs_program = chosen.command->name == kRecordCommand.name || chosen.command->name == kProfileCommand.name;
  if (!session.program.empty() && !runs_program) {
    return fail(kExitUsage, fmt::format("contrafact {} takes nothing after --", chosen.command->name));
  }
  table::Colour colour = flags.no_color ? table::Colour::never : table::Colour::automatic;
  session.out = table::style_for(STDOUT_FILENO, colour);
  session.err = table::style_for(STDERR_FILENO, colour);
  session.quiet = flags.quiet;
  session.progress = session.err.width != 0 && !flags.quiet;
  return chosen.run(session);
}

}  // namespace contrafact::cli
