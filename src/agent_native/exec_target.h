// The program that an exec is about to start: can the agent be loaded into it?
#pragma once

#include <cstddef>

namespace contrafact::agent_native {

// The file, as one of exec's functions is given it.
struct ExecTarget {
  enum class By { path, search, descriptor };
  By by;
  const char* name = nullptr;  // path; or the name that is looked for along PATH
  int descriptor = -1;
};

// Memory that looking takes, of the caller's.
inline constexpr size_t kLookBytes = 8192;

// False where the program would run with our entries in its environment but without the agent, or not at all: it is
// statically linked, of another loader or processor, runs with other rights than ours, or is a script for such a
// program. True where this cannot be found out, as in a process with several threads: reading the file takes a
// descriptor, whose number another thread may claim meanwhile.
//
// May be called in a signal's handler. Calls the kernel; not for a process that restricts its system calls.
bool can_load_agent(const ExecTarget& target, char* memory);

}  // namespace contrafact::agent_native
