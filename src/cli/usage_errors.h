// The error in a command line, in one line of our own words: what is wrong, where, and what to do.
#pragma once

#include <string>

#include "cli/command.h"
#include "cli/options.h"

namespace contrafact::cli {

// `command` is the subcommand that was named, null if none was; `program_given` whether anything stands behind `--`.
std::string usage_message(const UsageError& error, const Command* command, bool program_given);

}  // namespace contrafact::cli
