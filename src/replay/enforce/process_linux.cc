#include "replay/enforce/process.h"

#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <utility>
#include <vector>

#include "base/clock.h"

namespace contrafact::replay {
namespace {

// What the child writes into the pipe: whether it worked, and the result or the message.
struct Answer {
  bool ok = false;
  ReplayCounts counts;
  uint64_t groups = 0;  // that follow
  char message[400] = {};
};

bool write_all(int to, const void* bytes, size_t size) {
  for (size_t done = 0; done < size;) {
    const ssize_t part = write(to, static_cast<const char*>(bytes) + done, size - done);
    if (part < 0 && errno == EINTR) continue;
    if (part <= 0) return false;
    done += static_cast<size_t>(part);
  }
  return true;
}

// The first `cores` of those that this process may use, from here on. False if there are not so many.
bool keep_to(uint32_t cores) {
  cpu_set_t allowed, chosen;
  CPU_ZERO(&chosen);
  if (sched_getaffinity(0, sizeof allowed, &allowed) != 0) return false;
  uint32_t left = cores;
  for (int cpu = 0; cpu < CPU_SETSIZE && left > 0; ++cpu) {
    if (!CPU_ISSET(cpu, &allowed)) continue;
    CPU_SET(cpu, &chosen);
    --left;
  }
  return left == 0 && sched_setaffinity(0, sizeof chosen, &chosen) == 0;
}

[[noreturn]] void be_child(int to, const std::string& path, Strategy strategy, uint32_t cores) {
  Answer answer;
  base::Result<ReplayResult> result = cores == 0 || keep_to(cores)
                                          ? enforce(path, strategy)
                                          : base::Error{std::to_string(cores) + " cores are not to be had"};
  answer.ok = result.ok();
  if (result) {
    answer.counts = *result;
    answer.groups = result->wait_ns_by_group.size();
  } else {
    std::snprintf(answer.message, sizeof answer.message, "%s", result.error().message.c_str());
  }
  bool written = write_all(to, &answer, sizeof answer);
  if (written && answer.groups > 0) {
    written = write_all(to, result->wait_ns_by_group.data(), result->wait_ns_by_group.size() * sizeof(int64_t));
  }
  _exit(written ? 0 : 1);
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

// As short as it can be: 60, 0.5.
std::string seconds_text(double seconds) {
  char text[32];
  std::snprintf(text, sizeof text, "%g", seconds);
  return text;
}

enum class Received : uint8_t { all, end, late };

Received receive(int from, void* bytes, size_t size, int64_t until_ns) {
  size_t got = 0;
  while (got < size) {
    const int64_t left_ms = (until_ns - base::monotonic_ns()) / 1'000'000;
    pollfd waited{from, POLLIN, 0};
    const int ready = left_ms <= 0 ? 0 : poll(&waited, 1, static_cast<int>(std::min<int64_t>(left_ms, 1 << 30)));
    if (ready < 0 && errno == EINTR) continue;
    if (ready <= 0) return Received::late;
    const ssize_t part = read(from, static_cast<char*>(bytes) + got, size - got);
    if (part < 0 && errno == EINTR) continue;
    if (part <= 0) return Received::end;
    got += static_cast<size_t>(part);
  }
  return Received::all;
}

// False if the time was up first.
bool receive(int from, Answer& answer, std::vector<int64_t>& groups, double limit_s) {
  const int64_t until_ns = base::monotonic_ns() + static_cast<int64_t>(limit_s * 1e9);
  Received received = receive(from, &answer, sizeof answer, until_ns);
  if (received == Received::all) {
    groups.resize(answer.groups);
    received = receive(from, groups.data(), groups.size() * sizeof(int64_t), until_ns);
  }
  if (received == Received::end) {
    answer = {};
    std::snprintf(answer.message, sizeof answer.message, "the replay ended without a result");
  }
  return received != Received::late;
}

}  // namespace

uint32_t cores_to_use() {
  cpu_set_t allowed;
  return sched_getaffinity(0, sizeof allowed, &allowed) == 0 ? static_cast<uint32_t>(CPU_COUNT(&allowed)) : 1;
}

base::Result<ProcessRun> enforce_in_process(const std::string& path, Strategy strategy, double limit_s,
                                            uint32_t cores) {
  int ends[2];
  if (pipe(ends) != 0) return base::Error{std::string("pipe: ") + std::strerror(errno)};
  const int64_t begin_ns = base::monotonic_ns();
  const uint64_t busy_before = busy_ticks();
  const pid_t child = fork();
  if (child < 0) return base::Error{std::string("fork: ") + std::strerror(errno)};
  if (child == 0) {
    close(ends[0]);
    be_child(ends[1], path, strategy, cores);
  }
  close(ends[1]);
  Answer answer;
  std::vector<int64_t> groups;
  const bool in_time = receive(ends[0], answer, groups, limit_s);
  close(ends[0]);
  if (!in_time) kill(child, SIGKILL);
  rusage usage{};
  while (wait4(child, nullptr, 0, &usage) < 0 && errno == EINTR) {
  }
  if (!in_time)
    return base::Error{"a replay was not over within its limit of " + seconds_text(limit_s) + " s (--limit)"};
  if (!answer.ok) return base::Error{answer.message};
  ProcessRun run;
  static_cast<ReplayCounts&>(run.result) = answer.counts;
  run.result.wait_ns_by_group = std::move(groups);
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
