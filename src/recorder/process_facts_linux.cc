#include <dlfcn.h>
#include <sched.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <iterator>
#include <optional>
#include <string>
#include <string_view>

#include "base/clock.h"
#include "base/file.h"
#include "recorder/cpu_quota.h"
#include "recorder/idle_cores.h"
#include "recorder/process_facts.h"

namespace contrafact::recorder {
namespace {

// File name of the shared library that holds this code, empty in a program that links it.
std::string own_library() {
  Dl_info info;
  if (dladdr(reinterpret_cast<void*>(&own_library), &info) == 0 || info.dli_fname == nullptr) return "";
  std::string path = info.dli_fname;
  std::string name = path.substr(path.rfind('/') + 1);
  return name.find(".so") == std::string::npos ? "" : name;
}

std::string_view file_name(std::string_view path) {
  return path.substr(path.rfind('/') + 1);
}

// The program's name and arguments, less the one that loads the library with this code: that is not the user's command.
std::string command_line(const std::string& process, bool with_arguments) {
  auto text = base::read_text_file("/proc/" + process + "/cmdline");
  if (!text) return "";
  std::string own = own_library();
  std::string command;
  for (size_t begin = 0; begin < text->size();) {
    size_t end = std::min(text->find('\0', begin), text->size());
    std::string_view argument = std::string_view(*text).substr(begin, end - begin);
    begin = end + 1;
    if (!own.empty() && argument.find(own) != std::string_view::npos) continue;
    if (!with_arguments) return std::string(file_name(argument));
    if (!command.empty()) command += ' ';
    command += argument;
  }
  return command;
}

// Of a process that has ended the kernel keeps the program's name alone, cut to 15 characters. `started` is the user's
// command, which may have gone on as another program (`chrt -r 1 PROGRAM`): the result is its end, from that program's
// name on.
std::string command_of_ended(const std::string& process, const std::string& started, bool with_arguments) {
  constexpr size_t kNameMax = 15;
  const auto text = base::read_text_file("/proc/" + process + "/comm");
  if (!text) return started;
  const std::string_view name = std::string_view(*text).substr(0, text->find('\n'));
  if (name.empty()) return started;
  for (size_t begin = 0; begin < started.size();) {
    const size_t end = std::min(started.find(' ', begin), started.size());
    const std::string_view word = file_name(std::string_view(started).substr(begin, end - begin));
    if (word.substr(0, kNameMax) == name) return with_arguments ? started.substr(begin) : std::string(word);
    begin = end + 1;
  }
  return started;  // it has given itself another name
}

// Empty where there are more CPUs than the set holds.
cpu_set_t usable_set(int32_t pid) {
  cpu_set_t set;
  CPU_ZERO(&set);
  if (sched_getaffinity(pid, sizeof set, &set) != 0 && sched_getaffinity(0, sizeof set, &set) != 0) CPU_ZERO(&set);
  return set;
}

int usable_cores(int32_t pid) {
  const cpu_set_t set = usable_set(pid);
  return CPU_COUNT(&set) > 0 ? CPU_COUNT(&set) : static_cast<int>(sysconf(_SC_NPROCESSORS_ONLN));
}

// A group's limit on the time of cores, rounded up, is a number of cores as well: so does a JVM take it.
std::vector<Fact> core_facts(int32_t pid) {
  const int cores = usable_cores(pid);
  const std::optional<double> quota = cpu_quota(pid);
  if (!quota || *quota >= cores) {
    std::vector<Fact> facts{{"cores", std::to_string(cores)}};
    if (const cpu_set_t set = usable_set(pid); CPU_COUNT(&set) > 0)
      facts.push_back({"cores.numbers", core_numbers(set)});
    return facts;
  }
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), "%.2f", *quota);
  return {{"cores", std::to_string(static_cast<int>(std::ceil(*quota)))}, {"cpu.quota", text.data()}};
}

int64_t unix_ns() {
  timespec now;
  clock_gettime(CLOCK_REALTIME, &now);
  return int64_t{now.tv_sec} * 1'000'000'000 + now.tv_nsec;
}

// A random text of the kernel's, the same in all containers until the machine is started again.
std::string boot_id() {
  const auto text = base::read_text_file("/proc/sys/kernel/random/boot_id");
  return text ? text->substr(0, text->find('\n')) : "";
}

std::vector<Fact> facts_of(int32_t pid, int64_t begin_ns, std::string command) {
  std::vector<Fact> facts{
      {"clock", "CLOCK_MONOTONIC"},
      {"start.monotonic_ns", std::to_string(begin_ns)},
      {"start.unix_ns", std::to_string(unix_ns() - (base::monotonic_ns() - begin_ns))},
      {"pid", std::to_string(pid)},
      {"command", std::move(command)},
      {"recorder.version", CONTRAFACT_VERSION},
  };
  std::ranges::move(core_facts(pid), std::back_inserter(facts));
  if (const std::string boot = boot_id(); !boot.empty()) facts.push_back({"boot", boot});
  utsname system;
  if (uname(&system) == 0)
    facts.push_back({"system", std::string(system.sysname) + " " + system.release + " " + system.machine});
  return facts;
}

}  // namespace

bool is_under_quota(int32_t pid) {
  const std::optional<double> quota = cpu_quota(pid == 0 ? getpid() : pid);
  return quota && *quota < usable_cores(pid);
}

std::vector<Fact> process_facts(bool with_arguments) {
  return facts_of(getpid(), base::monotonic_ns(), command_line("self", with_arguments));
}

std::vector<Fact> process_facts(int32_t pid, int64_t begin_ns, const std::string& command, bool with_arguments) {
  const std::string now = command_line(std::to_string(pid), with_arguments);
  return facts_of(pid, begin_ns, now.empty() ? command_of_ended(std::to_string(pid), command, with_arguments) : now);
}

}  // namespace contrafact::recorder
