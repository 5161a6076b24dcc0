#include <fmt/format.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "base/clock.h"
#include "cli/child_process.h"

namespace contrafact::cli {
namespace {

constexpr int kForwarded[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2};

std::vector<char*> pointers(std::vector<std::string>& strings) {
  std::vector<char*> out;
  for (std::string& s : strings) out.push_back(s.data());
  out.push_back(nullptr);
  return out;
}

std::vector<std::string> merged_environment(const std::vector<std::string>& changes) {
  std::vector<std::string> merged;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    std::string_view name = std::string_view(*entry).substr(0, std::string_view(*entry).find('='));
    bool replaced = false;
    for (const std::string& change : changes) {
      replaced = replaced || (change.size() > name.size() && change.starts_with(name) && change[name.size()] == '=');
    }
    if (!replaced) merged.emplace_back(*entry);
  }
  merged.insert(merged.end(), changes.begin(), changes.end());
  return merged;
}

// Starts the program with the signal mask and dispositions that we were started with.
int spawn(const std::string& file, std::vector<std::string> arguments, const std::vector<std::string>& environment,
          const sigset_t& mask, pid_t* child) {
  std::vector<std::string> variables = merged_environment(environment);
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  posix_spawnattr_setsigmask(&attributes, &mask);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK);
  int failed =
      posix_spawn(child, file.c_str(), nullptr, &attributes, pointers(arguments).data(), pointers(variables).data());
  posix_spawnattr_destroy(&attributes);
  return failed;
}

}  // namespace

base::Result<ChildEnd> run_child(const std::string& file, const std::vector<std::string>& arguments,
                                 const std::vector<std::string>& environment, StartFailure* start_failure) {
  signal(SIGCHLD, SIG_DFL);  // an inherited SIG_IGN would swallow the program's status
  sigset_t waited, before;
  sigemptyset(&waited);
  sigaddset(&waited, SIGCHLD);
  for (int number : kForwarded) sigaddset(&waited, number);
  sigprocmask(SIG_BLOCK, &waited, &before);

  pid_t child = 0;
  int64_t begin_ns = base::monotonic_ns();
  if (int failed = spawn(file, arguments, environment, before, &child); failed != 0) {
    sigprocmask(SIG_SETMASK, &before, nullptr);
    start_failure->error_number = failed;
    return base::Error{fmt::format("cannot start '{}': {}", file, std::strerror(failed))};
  }
  int status = 0;
  for (;;) {
    siginfo_t info{};
    int number = sigwaitinfo(&waited, &info);
    if (number == SIGCHLD) {
      if (waitpid(child, &status, WNOHANG) == child) break;
    } else if (number > 0 && info.si_code != SI_KERNEL) {
      kill(child, number);
    }
  }
  sigprocmask(SIG_SETMASK, &before, nullptr);
  ChildEnd end{.wall_s = static_cast<double>(base::monotonic_ns() - begin_ns) / 1e9, .pid = child};
  end.signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
  end.exit_status = end.signal != 0 ? 128 + end.signal : WEXITSTATUS(status);
  return end;
}

}  // namespace contrafact::cli
