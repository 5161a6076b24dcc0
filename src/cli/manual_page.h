// Manual pages, section 1, in the macros of man(7): what `man contrafact` and `man contrafact-record` show.
#pragma once

#include <string>

#include "cli/command_tree.h"

namespace contrafact::cli {

std::string manual_page(const CommandTree& tree);
std::string manual_page(const CommandFacts& command);

}  // namespace contrafact::cli
