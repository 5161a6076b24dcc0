// A shell script as simple commands, in the order in which they stand. Reads the part of the shell's grammar that start
// scripts use; everything else becomes words.
#pragma once

#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace contrafact::cli {

struct ShellCommand {
  std::vector<std::string> words;  // without quotes; substitutions as they stand
  size_t line = 0;
};

struct ShellScript {
  std::vector<ShellCommand> commands;  // without those that only assign
  std::multimap<std::string, std::string> assigned;
  std::set<std::string> functions;
};

ShellScript read_shell_script(std::string_view text);

}  // namespace contrafact::cli
