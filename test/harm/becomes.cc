// Programs that become others, with environments of every kind, and children that no handler of pthread_atfork knows
// of.
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <sys/wait.h>

#include <iterator>
#include <string>
#include <vector>

#include "harm.h"

using namespace harm;

namespace {

std::string g_self;
constexpr long kSome = 1000;

int count_environment() {
  size_t count = 0, bytes = 0;
  for (char** entry = environ; *entry; ++entry, ++count) bytes += strlen(*entry) + 1;
  dprintf(1, "%zu entries, %zu bytes\n", count, bytes);
  sections(kSome);
  return 40;
}

int execute(const char* name, char* const* environment) {
  char* arguments[] = {g_self.data(), const_cast<char*>(name), nullptr};
  return execve(g_self.c_str(), arguments, environment);
}

int with_empty_environment() {
  char* const nothing[] = {nullptr};
  return execute("count_environment", nothing);
}

int with_null_environment() {
  return execute("count_environment", nullptr);
}

int with_cleared_environment() {
  clearenv();
  sections(kSome);
  return execl(g_self.c_str(), g_self.c_str(), "count_environment", static_cast<char*>(nullptr));
}

int with_many_entries() {
  std::vector<std::string> entries;
  for (int i = 0; i < 10'000; ++i) entries.push_back("ENTRY" + std::to_string(i) + "=value");
  std::vector<char*> environment;
  for (std::string& entry : entries) environment.push_back(entry.data());
  environment.push_back(nullptr);
  return execute("count_environment", environment.data());
}

int with_many_arguments() {
  std::string self = g_self, name = "count_arguments", argument = "argument";
  std::vector<char*> arguments{self.data(), name.data()};
  arguments.insert(arguments.end(), 20'000, argument.data());
  arguments.push_back(nullptr);
  sections(kSome);
  return execv(g_self.c_str(), arguments.data());
}

// Ways that no library sees, or that look for the program.
int by_call(bool bare) {
  sections(kSome);
  char* const arguments[] = {g_self.data(), const_cast<char*>("count_environment"), nullptr};
  char* const nothing[] = {nullptr};
  const long path = reinterpret_cast<long>(g_self.c_str()), with = reinterpret_cast<long>(arguments);
  bare ? bare_call(SYS_execve, path, with, reinterpret_cast<long>(nothing)) : syscall(SYS_execve, path, with, nothing);
  return 1;
}

int by_path() {
  sections(kSome);
  setenv("PATH", g_self.substr(0, g_self.rfind('/')).c_str(), 1);
  execlp("nowhere_to_be_found", "nowhere", static_cast<char*>(nullptr));
  execlp("harm_becomes", g_self.c_str(), "child", static_cast<char*>(nullptr));
  return 1;
}

// The largest environment that the kernel takes, to 64 bytes: none of it is the recorder's.
int at_the_limit() {
  constexpr size_t kEntryBytes = 100'000;
  std::vector<std::string> entries(static_cast<size_t>(sysconf(_SC_ARG_MAX)) / kEntryBytes + 1,
                                   std::string(kEntryBytes, 'x'));
  std::vector<char*> environment;
  for (std::string& entry : entries) environment.push_back(entry.data());
  environment.push_back(nullptr);
  for (size_t bytes = kEntryBytes; bytes > 64; bytes -= 64) {
    entries.back().resize(bytes);
    environment[environment.size() - 2] = entries.back().data();
    execute("count_environment", environment.data());
    if (errno != E2BIG) fail("execve");
  }
  return 1;
}

// A child by a bare system call has a copy of this thread's state, and events that are not its parent's.
int bare_child(bool by_library) {
  sections(kSome);
  const pid_t child = by_library ? _Fork() : static_cast<pid_t>(bare_call(SYS_clone, SIGCHLD));
  if (child == 0) {
    sections(200'000);
    say("a child without handlers\n");
    _exit(5);
  }
  int status = 0;
  expect(waitpid(child, &status, 0) == child, "waitpid");
  sections(kSome);
  return 41;
}

int forked_child() {
  sections(kSome);
  const pid_t child = fork();
  if (child == 0) {
    sections(200'000);
    _exit(5);
  }
  int status = 0;
  expect(waitpid(child, &status, 0) == child, "waitpid");
  sections(kSome);
  return 42;
}

// Both at once: the child must not write where the parent does.
int both_at_once() {
  const pid_t child = static_cast<pid_t>(bare_call(SYS_clone, SIGCHLD));
  sections(300'000);
  if (child == 0) _exit(5);
  int status = 0;
  expect(waitpid(child, &status, 0) == child, "waitpid");
  return 43;
}

constexpr Case kCases[] = {
    {"count_environment", count_environment},
    {"count_arguments", [] { return 44; }},
    {"child", [] { return sections(kSome), 45; }},
    {"by_bare_call", [] { return by_call(true); }},
    {"by_syscall", [] { return by_call(false); }},
    {"by_path", by_path},
    {"with_empty_environment", with_empty_environment},
    {"with_null_environment", with_null_environment},
    {"with_cleared_environment", with_cleared_environment},
    {"with_many_entries", with_many_entries},
    {"with_many_arguments", with_many_arguments},
    {"at_the_limit", at_the_limit},
    {"bare_child", [] { return bare_child(false); }},
    {"library_child", [] { return bare_child(true); }},
    {"forked_child", forked_child},
    {"both_at_once", both_at_once},
};

}  // namespace

int main(int count, char** arguments) {
  g_self = arguments[0];
  return run_case(kCases, std::size(kCases), count > 1 ? arguments[1] : "");
}
