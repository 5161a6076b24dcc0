#include "recorder/idle_cores.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <string_view>
#include <utility>

#include "base/clock.h"
#include "base/high_descriptor.h"

namespace contrafact::recorder {
namespace {

constexpr size_t kColumnIdle = 3, kColumnWaiting = 4;  // behind the name: user nice system idle iowait ...

// Takes a number from the front; none if there is none.
std::optional<uint64_t> take_number(std::string_view& text) {
  text.remove_prefix(std::min(text.find_first_not_of(' '), text.size()));
  uint64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc()) return std::nullopt;
  text.remove_prefix(static_cast<size_t>(end - text.data()));
  return number;
}

int open_stat() {
  return open("/proc/stat", O_RDONLY | O_CLOEXEC);
}

}  // namespace

std::string core_numbers(const cpu_set_t& cores) {
  std::string list;
  for (int first = 0; first < CPU_SETSIZE; ++first) {
    if (!CPU_ISSET(first, &cores)) continue;
    int last = first;
    while (last + 1 < CPU_SETSIZE && CPU_ISSET(last + 1, &cores)) ++last;
    if (!list.empty()) list += ',';
    list += std::to_string(first);
    if (last > first) list += '-' + std::to_string(last);
    first = last;
  }
  return list;
}

std::optional<uint64_t> idle_ticks_in(std::string_view proc_stat, const cpu_set_t& cores) {
  std::optional<uint64_t> sum;
  while (!proc_stat.empty()) {
    std::string_view line = proc_stat.substr(0, proc_stat.find('\n'));
    proc_stat.remove_prefix(std::min(line.size() + 1, proc_stat.size()));
    if (!line.starts_with("cpu")) break;  // the cores' lines come first
    line.remove_prefix(3);
    if (line.starts_with(' ')) continue;  // of all cores
    const std::optional<uint64_t> core = take_number(line);
    if (!core || *core >= CPU_SETSIZE || !CPU_ISSET(*core, &cores)) continue;
    for (size_t column = 0; column <= kColumnWaiting; ++column) {
      const std::optional<uint64_t> ticks = take_number(line);
      if (!ticks) break;
      if (column >= kColumnIdle) sum = sum.value_or(0) + *ticks;
    }
  }
  return sum;
}

IdleCores::IdleCores(int32_t pid, Host host, std::shared_ptr<const AwakeReport> awake) : awake_(std::move(awake)) {
  if (host == Host::recorded_program) kept_open_ = base::moved_high(open_stat());
  CPU_ZERO(&usable_);
  if (sched_getaffinity(pid, sizeof usable_, &usable_) != 0) sched_getaffinity(0, sizeof usable_, &usable_);
  count_from(base::monotonic_ns());
}

void IdleCores::count_from(int64_t now_ns) {
  ticks_ = idle_ticks().value_or(0);
  awake_us_ = awake_us();
  looked_ns_ = now_ns;
}

IdleCores::~IdleCores() {
  if (kept_open_ >= 0) close(kept_open_);
}

std::optional<int> IdleCores::widen(int32_t pid) {
  cpu_set_t now;
  CPU_ZERO(&now);
  if (sched_getaffinity(pid, sizeof now, &now) != 0) return std::nullopt;
  CPU_OR(&now, &now, &usable_);
  if (CPU_EQUAL(&now, &usable_)) return std::nullopt;
  usable_ = now;
  count_from(base::monotonic_ns());
  return CPU_COUNT(&usable_);
}

std::optional<uint64_t> IdleCores::idle_ticks() {
  // The cores' lines and no more: what follows, a number for each interrupt, is long on large machines.
  text_.resize((static_cast<size_t>(CPU_COUNT(&usable_)) + 1) * 128 + 4096);
  const int fd = kept_open_ >= 0 ? kept_open_ : open_stat();
  if (fd < 0) return std::nullopt;
  const ssize_t bytes = pread(fd, text_.data(), text_.size(), 0);
  if (fd != kept_open_) close(fd);
  if (bytes <= 0) return std::nullopt;
  return idle_ticks_in(std::string_view(text_).substr(0, static_cast<size_t>(bytes)), usable_);
}

std::optional<uint32_t> IdleCores::look(int64_t now_ns, bool last) {
  if (now_ns - looked_ns_ < kEachNs && !last) return std::nullopt;
  looked_ns_ = now_ns;
  const std::optional<uint64_t> ticks = idle_ticks();
  if (!ticks || *ticks < ticks_) return std::nullopt;  // a core went off line, say
  static const auto us_each = static_cast<uint64_t>(1'000'000 / std::max<long>(1, sysconf(_SC_CLK_TCK)));
  const int64_t now_awake_us = awake_us();
  const auto kept_awake_us = static_cast<uint64_t>(now_awake_us - std::exchange(awake_us_, now_awake_us));
  const uint64_t idle_us = (*ticks - std::exchange(ticks_, *ticks)) * us_each + kept_awake_us;
  return static_cast<uint32_t>(std::min<uint64_t>(idle_us, UINT32_MAX));
}

}  // namespace contrafact::recorder
