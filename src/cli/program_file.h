// What kind of program a file is, as far as recording it goes. Reads the file, starts nothing.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"

namespace contrafact::cli {

enum class ProgramKind : uint8_t {
  native,      // dynamically linked for this machine and this C library: the agent can be preloaded
  script,      // begins with #!; its interpreter is started
  jvm,         // an executable that carries a Java virtual machine's launcher library
  closed,      // nothing can be preloaded into it: `why` says so
  no_program,  // the kernel cannot run it: `why` says so
};

struct ProgramFile {
  ProgramKind kind = ProgramKind::native;
  std::string why;          // closed, no_program
  std::string interpreter;  // script: the path after #!
};

// Follows a script to its interpreter only by name. Errors: the file cannot be read.
base::Result<ProgramFile> inspect_program(const std::string& path);

// Why the system would not run a file that is there, and what to do. REQUIRES: it would not.
std::string why_not_executable(const std::string& path);

}  // namespace contrafact::cli
