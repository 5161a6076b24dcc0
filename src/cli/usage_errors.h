// What is wrong with a command line, in one line of our own words: what, where, and what to do.
#pragma once

#include <CLI/CLI.hpp>
#include <string>

#include "cli/command.h"

namespace contrafact::cli {

// `app` is the parser that threw `error`; `command` the subcommand that was named, null if none was; `program_given`
// whether anything stands behind `--`.
std::string usage_message(const CLI::App& app, const CLI::ParseError& error, const Command* command,
                          bool program_given);

}  // namespace contrafact::cli
