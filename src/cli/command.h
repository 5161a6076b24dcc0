// A subcommand: one file each, all named in the one list in commands.cc.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "cli/options.h"
#include "table/render.h"

namespace contrafact::cli {

// The surroundings of a command.
struct Session {
  std::string self;                  // absolute path of the running executable
  std::vector<std::string> program;  // the words after `--` on the command line
  table::TextStyle out;              // style of standard output
  table::TextStyle err;              // and standard error
  bool quiet = false;
  bool progress = false;  // standard error is a terminal, and --quiet was not given
};

using Run = std::function<int(Session&)>;

struct Command {
  std::string_view name;
  std::string_view summary;   // one line
  std::string_view examples;  // three lines, each a full command
  // Adds the command's options to `list` and returns what to do once they are parsed.
  Run (*declare)(OptionList& list);
  // For the usage line of a command that runs a program: the words after the options, behind `--`. Empty for other
  // commands, which have positional arguments.
  std::string_view operands = {};
};

const std::vector<Command>& commands();
std::vector<std::string_view> command_names();

// The help of one command (usage, options, examples), or of all for an empty name; empty: there is no such command.
std::string help_of(std::string_view command, size_t width);

// The whole tool: parses, runs, returns the exit status.
int run_tool(int argc, const char* const* argv);

// A line on standard error, which is wrapped where that is a terminal. It may contain text from the recorded program.
void say(std::string_view line);
void say_lines(std::string_view lines);  // each ends with a line break

// One line on standard error, "contrafact: MESSAGE", and the status to return.
int fail(int status, std::string_view message);

// "contrafact: MESSAGE" on standard error, for an action done; nothing with --quiet.
void tell(const Session& session, std::string_view message);

// "contrafact: wrote PATH", unless that is standard output.
void tell_written(const Session& session, const std::string& path);

// "contrafact: note: MESSAGE" on standard error; nothing with --quiet.
void note(const Session& session, std::string_view message);

}  // namespace contrafact::cli
