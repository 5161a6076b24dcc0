// Scripts that make a shell complete commands, options and their values.
#pragma once

#include <string>

#include "cli/command_tree.h"

namespace contrafact::cli {

std::string bash_completion(const CommandTree& tree);
std::string zsh_completion(const CommandTree& tree);
std::string fish_completion(const CommandTree& tree);

// The kinds of words that complete a value.
enum class ValueKind { none, file, folder, command, words };
ValueKind value_kind(const OptionFacts& option);
// The names of all commands, separated by spaces.
std::string command_names(const CommandTree& tree);

}  // namespace contrafact::cli
