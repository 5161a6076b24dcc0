#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "recorder/shared_log.h"

namespace contrafact::recorder {
namespace {

base::Error failed(const std::string& path) {
  return base::Error{fmt::format("cannot open the recorder's memory, {}: {}", path, std::strerror(errno))};
}

}  // namespace

base::Result<SharedLog*> SharedLog::open(const std::string& control_path, int32_t pid, int32_t parent_pid,
                                         bool restricted) {
  const int fd = ::open(control_path.c_str(), O_RDWR | O_CLOEXEC);
  if (fd < 0) return failed(control_path);
  void* memory = mmap(nullptr, sizeof(ControlPage), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  close(fd);
  if (memory == MAP_FAILED) return failed(control_path);
  auto& control = *static_cast<ControlPage*>(memory);
  if (control.version != kControlVersion) {
    return base::Error{"the recorder's memory is of another version of contrafact"};
  }
  if (control.closed.load(std::memory_order_acquire)) {
    return base::Error{"this process is not recorded: the recording has ended"};
  }
  const uint32_t number = control.areas_claimed.fetch_add(1, std::memory_order_acq_rel);
  if (number >= control.areas_made.load(std::memory_order_acquire)) {
    return base::Error{"this process is not recorded: too many began at once"};
  }
  const std::string path = control_path.substr(0, control_path.rfind('/') + 1) +
                           std::to_string(control.area_fd[number].load(std::memory_order_relaxed));
  const int area_fd = ::open(path.c_str(), O_RDWR | O_CLOEXEC);
  if (area_fd < 0) return failed(path);
  auto area = deferred::SharedArea::open(area_fd, control.area_bytes, restricted);
  close(area_fd);
  if (!area) return area.error();
  auto* log = new SharedLog(control, std::move(*area));
  log->page().begin_ns.store(base::monotonic_ns(), std::memory_order_relaxed);
  log->page().parent_pid.store(parent_pid, std::memory_order_relaxed);
  log->page().pid.store(pid, std::memory_order_release);
  return log;
}

SharedLog::SharedLog(ControlPage& control, deferred::SharedArea area)
    : control_(control), producers_(std::move(area), trace_layout()) {}

Client* SharedLog::attach(uint32_t os_tid, uint32_t number) {
  Client* client = producers_.attach(os_tid, number);
  if (!client) page().threads_unrecorded.fetch_add(1, std::memory_order_relaxed);
  return client;
}

void SharedLog::set_count(const char* group, const char* name, uint64_t value) {
  char key[sizeof NamedCount::key] = {};
  const size_t group_bytes = strnlen(group, sizeof key - 1);
  std::memcpy(key, group, group_bytes);
  std::memcpy(key + group_bytes, name, strnlen(name, sizeof key - 1 - group_bytes));
  for (NamedCount& count : page().counts) {
    if (!count.is_there.load(std::memory_order_relaxed)) {
      std::memcpy(count.key, key, sizeof key);
      count.value.store(value, std::memory_order_relaxed);
      count.is_there.store(true, std::memory_order_release);
      return;
    }
    if (std::memcmp(count.key, key, sizeof key) != 0) continue;
    count.value.store(value, std::memory_order_relaxed);
    return;
  }
}

}  // namespace contrafact::recorder
