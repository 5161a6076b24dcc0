// What the cases of ends.cc and children.cc share.
#pragma once

#include <sys/wait.h>
#include <time.h>

#include <string>

#include "harm.h"

namespace harm {

inline std::string g_programs;  // the folder of this program's file
inline constexpr long kSome = 1000;

inline std::string beside(const char* name) {
  return g_programs + "/" + name;
}

inline void pause_ms(long ms) {
  const timespec time{ms / 1000, ms % 1000 * 1'000'000};
  nanosleep(&time, nullptr);
}

inline int wait_for(pid_t child) {
  int status = 0;
  expect(waitpid(child, &status, 0) == child, "waitpid");
  return status;
}

inline void tell_end(const char* what, int status) {
  dprintf(1, "%s: status %d signal %d\n", what, WEXITSTATUS(status), WIFSIGNALED(status) ? WTERMSIG(status) : 0);
}

inline volatile bool g_stop = false;

inline void* lock_until_end(void*) {
  while (!g_stop) sections(10);
  return nullptr;
}

}  // namespace harm
