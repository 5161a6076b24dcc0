#include <fmt/format.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <iterator>

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

std::string_view variable_in(std::string_view entry) {
  return entry.substr(0, entry.find('='));
}

// Our environment, each change in the place of what it changes, new variables at the end.
std::vector<std::string> merged_environment(const std::vector<std::string>& changes) {
  std::vector<std::string> merged;
  std::vector<bool> is_made(changes.size());
  const auto make = [&](size_t change) {
    if (!is_made[change]) merged.push_back(changes[change]);
    is_made[change] = true;
  };
  for (char** entry = environ; *entry != nullptr; ++entry) {
    size_t change = 0;
    while (change < changes.size() && variable_in(changes[change]) != variable_in(*entry)) ++change;
    change == changes.size() ? static_cast<void>(merged.emplace_back(*entry)) : make(change);
  }
  for (size_t change = 0; change < changes.size(); ++change) make(change);
  return merged;
}

// Those that the tool takes in its own way.
constexpr int kOwnSignals[] = {SIGPIPE, SIGCHLD, SIGXFSZ};
struct sigaction g_inherited[std::size(kOwnSignals)];
bool g_inherited_are_kept = false;

// In the child, which shares our memory: nothing here allocates or locks.
[[noreturn]] void become(const char* file, char* const* arguments, char* const* environment, const sigset_t& mask,
                         volatile int* failure) {
  for (size_t i = 0; i < std::size(kOwnSignals); ++i) {
    if (g_inherited_are_kept) sigaction(kOwnSignals[i], &g_inherited[i], nullptr);
  }
  sigprocmask(SIG_SETMASK, &mask, nullptr);
  execve(file, arguments, environment);
  *failure = errno;
  _exit(127);
}

// Starts the program with the signal mask and dispositions that we were started with. 0, or the system's error.
int spawn(const std::string& file, std::vector<std::string> arguments, const std::vector<std::string>& environment,
          const sigset_t& mask, pid_t* child) {
  std::vector<std::string> variables = merged_environment(environment);
  const std::vector<char*> argument_pointers = pointers(arguments), variable_pointers = pointers(variables);
  // The child has our memory until it has become the program; we wait for that, and see why it failed. A pipe would
  // need descriptors, of which there may be few.
  volatile int failure = 0;
  *child = vfork();
  if (*child == 0) become(file.c_str(), argument_pointers.data(), variable_pointers.data(), mask, &failure);
  if (*child < 0) return errno;
  if (failure != 0) waitpid(*child, nullptr, 0);
  return failure;
}

}  // namespace

void keep_inherited_signals() {
  for (size_t i = 0; i < std::size(kOwnSignals); ++i) sigaction(kOwnSignals[i], nullptr, &g_inherited[i]);
  g_inherited_are_kept = true;
}

HeldSignals::~HeldSignals() {
  if (ended_ != 0) waitpid(ended_, nullptr, 0);
  if (!mask_before_) return;
  sigset_t waited;
  sigemptyset(&waited);
  for (int number : kForwarded) sigaddset(&waited, number);
  constexpr timespec kNow{};
  while (sigtimedwait(&waited, nullptr, &kNow) > 0) {
  }
  sigprocmask(SIG_SETMASK, &*mask_before_, nullptr);
}

base::Result<ChildEnd> run_child(const std::string& file, const std::vector<std::string>& arguments,
                                 const std::vector<std::string>& environment, StartFailure* start_failure,
                                 HeldSignals* held) {
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
  siginfo_t ended{};
  for (;;) {
    siginfo_t info{};
    int number = sigwaitinfo(&waited, &info);
    if (number == SIGCHLD) {
      const int keep = held ? WNOWAIT : 0;
      if (waitid(P_PID, static_cast<id_t>(child), &ended, WEXITED | WNOHANG | keep) == 0 && ended.si_pid == child)
        break;
    } else if (number > 0 && info.si_code != SI_KERNEL) {
      kill(child, number);
    }
  }
  if (held) {
    held->mask_before_ = before;
    held->ended_ = child;
  } else {
    sigprocmask(SIG_SETMASK, &before, nullptr);
  }
  ChildEnd end{.wall_s = static_cast<double>(base::monotonic_ns() - begin_ns) / 1e9, .pid = child};
  end.signal = ended.si_code == CLD_EXITED ? 0 : ended.si_status;
  end.exit_status = end.signal != 0 ? 128 + end.signal : ended.si_status;
  return end;
}

}  // namespace contrafact::cli
