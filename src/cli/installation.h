// Where the parts of an installed or freshly built tool are: the agent lies beside the executable, in ../lib/contrafact
// (installed) or ../lib (build folder).
#pragma once

#include <string>

#include "base/result.h"

namespace contrafact::cli {

struct Installation {
  std::string agent_library;   // libcontrafact_jvm.so; empty if it is not there
  std::string native_library;  // libcontrafact_native.so; likewise
  std::string tbb_library;     // libcontrafact_native_tbb.so; likewise: goes with either where the program has oneTBB
  std::string sets_library;    // libcontrafact_native_sets.so; likewise: the same for read and write sets
};

// The running executable, from /proc/self/exe.
std::string self_path();

// One of them at least. The error names what is missing and where it was looked for.
base::Result<Installation> find_installation(const std::string& self);
// The same, with the agent for JVMs.
base::Result<Installation> find_jvm_installation(const std::string& self);

}  // namespace contrafact::cli
