#include "replay/enforce/process.h"

#include <poll.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>

#include "base/clock.h"

namespace contrafact::replay {
namespace {

// What the child writes into the pipe: whether it worked, and the result or the message.
struct Answer {
  bool ok = false;
  ReplayResult result;
  char message[400] = {};
};

[[noreturn]] void be_child(int to, const std::string& path, Strategy strategy) {
  Answer answer;
  base::Result<ReplayResult> result = enforce(path, strategy);
  answer.ok = result.ok();
  if (result) {
    answer.result = *result;
  } else {
    std::snprintf(answer.message, sizeof answer.message, "%s", result.error().message.c_str());
  }
  const ssize_t written = write(to, &answer, sizeof answer);
  _exit(written == sizeof answer ? 0 : 1);
}

// Busy time of all cores, in the system's ticks; 0 if it does not say.
uint64_t busy_ticks() {
  FILE* file = std::fopen("/proc/stat", "re");
  if (!file) return 0;
  unsigned long long user = 0, nice = 0, system = 0, idle = 0, wait = 0, irq = 0, soft = 0, steal = 0;
  const int read = std::fscanf(file, "cpu %llu %llu %llu %llu %llu %llu %llu %llu", &user, &nice, &system, &idle, &wait,
                               &irq, &soft, &steal);
  std::fclose(file);
  return read == 8 ? user + nice + system + irq + soft + steal : 0;
}

int64_t cpu_ns(const rusage& usage) {
  const auto ns = [](const timeval& t) { return int64_t{t.tv_sec} * 1'000'000'000 + int64_t{t.tv_usec} * 1'000; };
  return ns(usage.ru_utime) + ns(usage.ru_stime);
}

// False if the time was up first.
bool receive(int from, Answer& answer, double limit_s) {
  const int64_t until_ns = base::monotonic_ns() + static_cast<int64_t>(limit_s * 1e9);
  size_t got = 0;
  while (got < sizeof answer) {
    const int64_t left_ms = (until_ns - base::monotonic_ns()) / 1'000'000;
    pollfd waited{from, POLLIN, 0};
    const int ready = left_ms <= 0 ? 0 : poll(&waited, 1, static_cast<int>(std::min<int64_t>(left_ms, 1 << 30)));
    if (ready < 0 && errno == EINTR) continue;
    if (ready <= 0) return false;
    const ssize_t part = read(from, reinterpret_cast<char*>(&answer) + got, sizeof answer - got);
    if (part < 0 && errno == EINTR) continue;
    if (part <= 0) {
      answer = {};
      std::snprintf(answer.message, sizeof answer.message, "the replay ended without a result");
      return true;
    }
    got += static_cast<size_t>(part);
  }
  return true;
}

}  // namespace

base::Result<ProcessRun> enforce_in_process(const std::string& path, Strategy strategy, double limit_s) {
  int ends[2];
  if (pipe(ends) != 0) return base::Error{std::string("pipe: ") + std::strerror(errno)};
  const int64_t begin_ns = base::monotonic_ns();
  const uint64_t busy_before = busy_ticks();
  const pid_t child = fork();
  if (child < 0) return base::Error{std::string("fork: ") + std::strerror(errno)};
  if (child == 0) {
    close(ends[0]);
    be_child(ends[1], path, strategy);
  }
  close(ends[1]);
  Answer answer;
  const bool in_time = receive(ends[0], answer, limit_s);
  close(ends[0]);
  if (!in_time) kill(child, SIGKILL);
  rusage usage{};
  while (wait4(child, nullptr, 0, &usage) < 0 && errno == EINTR) {
  }
  if (!in_time) return base::Error{"a replay was not over within its limit"};
  if (!answer.ok) return base::Error{answer.message};
  ProcessRun run{answer.result, 0};
  const uint64_t busy_after = busy_ticks();
  const double all_ns =
      static_cast<double>(base::monotonic_ns() - begin_ns) * static_cast<double>(sysconf(_SC_NPROCESSORS_ONLN));
  const double tick_ns = 1e9 / static_cast<double>(sysconf(_SC_CLK_TCK));
  if (busy_before > 0 && busy_after > busy_before && all_ns > 0) {
    const double others_ns =
        static_cast<double>(busy_after - busy_before) * tick_ns - static_cast<double>(cpu_ns(usage));
    run.foreign_share = std::clamp(others_ns / all_ns, 0.0, 1.0);
  }
  return run;
}

}  // namespace contrafact::replay
