// The output of `--help` and `contrafact help`, for one command or for all, in at most `width` columns. One style for
// all: sentences begin with a capital, placeholders for values are in capitals. Pure.
#pragma once

#include <cstddef>
#include <string>

#include "cli/command_tree.h"

namespace contrafact::cli {

std::string help_text(const CommandTree& tree, size_t width);
std::string help_text(const CommandFacts& facts, size_t width);

}  // namespace contrafact::cli
