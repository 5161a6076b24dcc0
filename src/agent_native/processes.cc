// _exit, which runs no destructor, and exec, which ends this image of the process: what was recorded is written first,
// and a new image of the recorded process is recorded in its place.
#include <cstdarg>
#include <cstdlib>
#include <string>

#include "agent_native/agent.h"
#include "agent_native/real.h"
#include "agent_native/recording.h"

namespace contrafact::agent_native {
namespace {

constexpr size_t kEnvironmentMax = 4096;  // entries; larger ones go through as they are
constexpr size_t kArgumentsMax = 1024;    // of execl and its like

bool begins_with(const char* entry, std::string_view name) {
  return std::string_view(entry).substr(0, name.size()) == name;
}

// Runs `library` with an environment that makes the new image load the agent. It returns only if it failed.
template <typename Library>
int exec(char* const* environment, Library library) {
  const bool ours = g_agent.live.load(std::memory_order_acquire) && getpid() == g_agent.pid && !t_local.inside;
  size_t count = 0;
  while (environment && environment[count]) ++count;
  if (!ours || count > kEnvironmentMax) return library(environment);
  std::string preload, options;
  char* changed[kEnvironmentMax + 3];
  {
    Inside inside;
    const Shared& shared = *g_agent.shared;
    Options next = shared.options;
    next.process = g_agent.pid;
    next.output = shared.output;
    options = std::string(kOptionsVariable) + "=" + print_options(next);
    preload = "LD_PRELOAD=" + shared.agent_file;
    size_t n = 0;
    for (size_t i = 0; i < count; ++i) {
      if (begins_with(environment[i], "LD_PRELOAD=")) {
        const std::string rest = without_library(environment[i] + sizeof("LD_PRELOAD=") - 1, shared.agent_file);
        if (!rest.empty()) preload += ":" + rest;
      } else if (!begins_with(environment[i], std::string(kOptionsVariable) + "=")) {
        changed[n++] = environment[i];
      }
    }
    changed[n++] = preload.data();
    changed[n++] = options.data();
    changed[n] = nullptr;
    shared.recorder->add_fact("process.exec", "the process went on as another program");
    shared.recorder->flush();
  }
  return library(changed);
}

// The arguments of execl(path, arg, ..., nullptr); false if there are too many.
bool gather(const char* first, va_list rest, char** arguments) {
  size_t n = 0;
  arguments[n++] = const_cast<char*>(first);
  if (!first) return true;
  while (n < kArgumentsMax) {
    arguments[n] = va_arg(rest, char*);
    if (!arguments[n++]) return true;
  }
  errno = E2BIG;
  return false;
}

}  // namespace
}  // namespace contrafact::agent_native

using namespace contrafact::agent_native;

CONTRAFACT_INTERPOSE(void, _exit, (int status)) {
  CONTRAFACT_CALLED;
  end_recording("exit");
  real()._exit(status);
}
CONTRAFACT_INTERPOSE(void, _Exit, (int status)) {
  CONTRAFACT_CALLED;
  end_recording("exit");
  real()._exit(status);
}

CONTRAFACT_INTERPOSE(int, execve, (const char* path, char* const* arguments, char* const* environment)) {
  CONTRAFACT_CALLED;
  return exec(environment, [&](char* const* with) { return real().execve(path, arguments, with); });
}
CONTRAFACT_INTERPOSE(int, execv, (const char* path, char* const* arguments)) {
  CONTRAFACT_CALLED;
  return exec(environ, [&](char* const* with) { return real().execve(path, arguments, with); });
}
CONTRAFACT_INTERPOSE(int, execvp, (const char* file, char* const* arguments)) {
  CONTRAFACT_CALLED;
  return exec(environ, [&](char* const* with) { return real().execvpe(file, arguments, with); });
}
CONTRAFACT_INTERPOSE(int, execvpe, (const char* file, char* const* arguments, char* const* environment)) {
  CONTRAFACT_CALLED;
  return exec(environment, [&](char* const* with) { return real().execvpe(file, arguments, with); });
}
CONTRAFACT_INTERPOSE(int, fexecve, (int fd, char* const* arguments, char* const* environment)) {
  CONTRAFACT_CALLED;
  return exec(environment, [&](char* const* with) { return real().fexecve(fd, arguments, with); });
}
CONTRAFACT_INTERPOSE(int, execl, (const char* path, const char* first, ...)) {
  CONTRAFACT_CALLED;
  char* arguments[kArgumentsMax];
  va_list rest;
  va_start(rest, first);
  const bool whole = gather(first, rest, arguments);
  va_end(rest);
  if (!whole) return -1;
  return exec(environ, [&](char* const* with) { return real().execve(path, arguments, with); });
}
CONTRAFACT_INTERPOSE(int, execlp, (const char* file, const char* first, ...)) {
  CONTRAFACT_CALLED;
  char* arguments[kArgumentsMax];
  va_list rest;
  va_start(rest, first);
  const bool whole = gather(first, rest, arguments);
  va_end(rest);
  if (!whole) return -1;
  return exec(environ, [&](char* const* with) { return real().execvpe(file, arguments, with); });
}
CONTRAFACT_INTERPOSE(int, execle, (const char* path, const char* first, ...)) {
  CONTRAFACT_CALLED;
  char* arguments[kArgumentsMax];
  va_list rest;
  va_start(rest, first);
  const bool whole = gather(first, rest, arguments);
  char* const* environment = whole && first ? va_arg(rest, char* const*) : environ;
  va_end(rest);
  if (!whole) return -1;
  return exec(environment, [&](char* const* with) { return real().execve(path, arguments, with); });
}
