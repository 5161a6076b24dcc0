// Everything that a command line may hold, as data: manual pages and completions are made from it.
#pragma once

#include <string>
#include <vector>

#include "cli/command.h"
#include "cli/options.h"

namespace contrafact::cli {

struct CommandFacts {
  const Command* command;
  std::vector<OptionFacts> options;  // and arguments
};

struct CommandTree {
  std::string description;
  std::vector<OptionFacts> options;  // without a command
  std::vector<CommandFacts> commands;
};

CommandTree command_tree();

}  // namespace contrafact::cli
