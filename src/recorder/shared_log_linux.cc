#include <fcntl.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "deferred/background_thread.h"
#include "recorder/shared_log.h"

namespace contrafact::recorder {
namespace {

base::Error failed(const std::string& path) {
  return base::Error{"this process is not recorded: it cannot open the recorder's memory, " + path + ": " +
                     strerrordesc_np(errno)};
}

base::Result<ControlPage*> open_control(const std::string& path) {
  const int fd = ::open(path.c_str(), O_RDWR | O_CLOEXEC);
  if (fd < 0) return failed(path);
  // The recorder may be gone, and its path may lead into another process, to any file: to an empty one, say, whose
  // memory would fault.
  uint64_t magic = 0;
  const bool is_ours = pread(fd, &magic, sizeof magic, 0) == sizeof magic && magic == kControlMagic;
  void* memory = is_ours ? mmap(nullptr, sizeof(ControlPage), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0) : MAP_FAILED;
  const int error = errno;
  close(fd);
  errno = error;
  if (!is_ours) return base::Error{"this process is not recorded: the recorder is gone, or of another version"};
  if (memory == MAP_FAILED) return failed(path);
  return static_cast<ControlPage*>(memory);
}

// Whether the process at `/proc/PID/` is stopped, as by SIGSTOP or a debugger: stat(5), the word behind the name.
bool is_stopped(const std::string& process_path) {
  char text[128] = {};
  const int fd = ::open((process_path + "stat").c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) return false;
  const ssize_t length = pread(fd, text, sizeof text - 1, 0);
  close(fd);
  const char* const name_end = length > 0 ? std::strrchr(text, ')') : nullptr;
  return name_end && name_end[1] == ' ' && (name_end[2] == 'T' || name_end[2] == 't');
}

// The number of an area that nobody has. Programs may begin faster than the recorder makes areas, as with `env nice
// taskset PROGRAM`, or while the machine gives the recorder no core: 0.9 s without one, for 25 ms of work, beside five
// others at the lowest priority. So a program waits for as long as the recorder is not stopped. It loses patience with
// a recorder that is frozen without showing it; then nobody else waits until that makes areas again.
base::Result<uint32_t> claim_area(ControlPage& control, const std::string& process_path, bool may_wait) {
  constexpr timespec kNap{0, 500'000};
  constexpr int kNapsBetweenLooks = 100;
  constexpr int kNapsMax = 20'000;  // 10 s without a new area; longer on a busy machine
  uint32_t number = control.areas_claimed.load(std::memory_order_relaxed);
  uint32_t made_before = 0;
  for (int naps = 0;;) {
    const uint32_t made = control.areas_made.load(std::memory_order_acquire);
    if (number < made) {
      if (control.areas_claimed.compare_exchange_weak(number, number + 1, std::memory_order_acq_rel)) return number;
      continue;
    }
    if (made != std::exchange(made_before, made)) naps = 0;
    if (naps == kNapsMax) control.waited_in_vain.store(made, std::memory_order_relaxed);
    if (!may_wait || made == kAreasMax || control.waited_in_vain.load(std::memory_order_relaxed) == made) {
      return base::Error{"this process is not recorded: too many began at once"};
    }
    if (naps++ % kNapsBetweenLooks == 0 && is_stopped(process_path)) {
      return base::Error{"this process is not recorded: the recorder is stopped"};
    }
    nanosleep(&kNap, nullptr);
    number = control.areas_claimed.load(std::memory_order_relaxed);
  }
}

base::Result<deferred::SharedArea> open_area(const ControlPage& control, uint32_t number,
                                             const std::string& descriptors_path, bool restricted) {
  const std::string path = descriptors_path + std::to_string(control.area_fd[number].load(std::memory_order_relaxed));
  const int fd = ::open(path.c_str(), O_RDWR | O_CLOEXEC);
  if (fd < 0) return failed(path);
  auto area = deferred::SharedArea::open(fd, control.area_bytes, restricted);
  close(fd);
  return area;
}

// A program that begins with a real-time priority may leave the recorder no core from its first instruction on, and the
// room in the kernel and the buffers is limited. So the recorder gets the next higher priority, where that is allowed.
void raise_worker(const ControlPage& control) {
  const pid_t worker = control.worker_tid.load(std::memory_order_relaxed);
  if (worker != 0) deferred::raise_above_real_time(worker, deferred::own_real_time_priority());
}

}  // namespace

base::Result<SharedLog*> SharedLog::open(const std::string& control_path, int32_t pid, int32_t parent_pid,
                                         bool restricted) {
  auto opened = open_control(control_path);
  if (!opened) return opened.error();
  ControlPage& control = **opened;
  if (control.closed.load(std::memory_order_acquire)) {
    return base::Error{"this process is not recorded: the recording has ended"};
  }
  if (!restricted) raise_worker(control);
  const std::string descriptors_path = control_path.substr(0, control_path.rfind('/') + 1);
  const auto number = claim_area(control, descriptors_path + "../", !restricted);
  if (!number) {
    control.refused.fetch_add(1, std::memory_order_relaxed);
    return number.error();
  }
  auto area = open_area(control, *number, descriptors_path, restricted);
  if (!area) {
    control.area_fd[*number].store(kGivenUp, std::memory_order_release);
    return area.error();
  }
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

RememberedPair* SharedLog::pairs_of(const Client* client) const {
  static_assert(sizeof(RememberedPair) * kPairs <= deferred::kSharedNoteBytes);
  return reinterpret_cast<RememberedPair*>(producers_.note_of(*client));
}

uint32_t SharedLog::add_pool(std::string_view name, format::PoolKind kind, uint32_t core_size, uint32_t max_size) {
  uint32_t number = pools_claimed_.load(std::memory_order_acquire);
  name = name.substr(0, sizeof NamedPool::name - 1);
  for (uint32_t i = 0; i < number; ++i) {
    const NamedPool& known = page().pools[i];
    if (known.is_there.load(std::memory_order_acquire) && name == std::string_view(known.name)) return i;
  }
  do {
    if (number == kNamedPoolsMax) return number - 1;
  } while (!pools_claimed_.compare_exchange_weak(number, number + 1, std::memory_order_relaxed));
  NamedPool& pool = page().pools[number];
  name.copy(pool.name, name.size());
  pool.kind.store(static_cast<uint32_t>(kind), std::memory_order_relaxed);
  pool.core_size.store(core_size, std::memory_order_relaxed);
  pool.max_size.store(max_size, std::memory_order_relaxed);
  pool.is_there.store(true, std::memory_order_release);
  return number;
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
