#include <sched.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <string>

#include "base/clock.h"
#include "base/file.h"
#include "recorder/process_facts.h"

namespace contrafact::recorder {
namespace {

std::string command_line() {
  auto text = base::read_text_file("/proc/self/cmdline");
  if (!text) return "";
  while (!text->empty() && text->back() == '\0') text->pop_back();
  std::replace(text->begin(), text->end(), '\0', ' ');
  return std::move(*text);
}

int usable_cores() {
  cpu_set_t set;
  CPU_ZERO(&set);
  if (sched_getaffinity(0, sizeof set, &set) == 0) return CPU_COUNT(&set);
  return static_cast<int>(sysconf(_SC_NPROCESSORS_ONLN));  // more CPUs than the set holds
}

int64_t unix_ns() {
  timespec now;
  clock_gettime(CLOCK_REALTIME, &now);
  return int64_t{now.tv_sec} * 1'000'000'000 + now.tv_nsec;
}

}  // namespace

std::vector<Fact> process_facts() {
  std::vector<Fact> facts{
      {"clock", "CLOCK_MONOTONIC"},
      {"start.monotonic_ns", std::to_string(base::monotonic_ns())},
      {"start.unix_ns", std::to_string(unix_ns())},
      {"pid", std::to_string(getpid())},
      {"cores", std::to_string(usable_cores())},
      {"command", command_line()},
      {"recorder.version", CONTRAFACT_VERSION},
  };
  utsname system;
  if (uname(&system) == 0)
    facts.push_back({"system", std::string(system.sysname) + " " + system.release + " " + system.machine});
  return facts;
}

}  // namespace contrafact::recorder
