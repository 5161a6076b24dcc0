// There is one dummy event per CPU and existing thread, whose only output is PERF_RECORD_SWITCH; threads that are
// started later inherit it. Events of one CPU share one ring, which the kernel fills and the drainer empties: nothing
// happens in the threads themselves. An inherited event can be mapped only if it is bound to a CPU, hence one for each.
#include <dirent.h>
#include <linux/perf_event.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <initializer_list>
#include <optional>
#include <utility>

#include "base/clock.h"
#include "base/high_descriptor.h"
#include "recorder/cpu_switches.h"

namespace contrafact::recorder {
namespace {

// At 24 bytes a record 10,900 switches of one CPU between two passes of the drainer. With the ring's header page this
// stays within the 516 KiB per CPU that an unprivileged user may lock by default.
constexpr size_t kRingBytes = 256 << 10;
// Where more may be locked, in a process of the recorder's own, which may wait for a core while the program has them
// all.
constexpr size_t kLargeRingBytes = 1 << 20;
constexpr size_t kDescriptorsMax = 1024;
// A record is in its ring this long after its time at the latest: the kernel writes it with interrupts off.
constexpr int64_t kSettledNs = 1'000'000;

struct SwitchRecord {
  perf_event_header header;
  uint32_t pid, tid;
  uint64_t time_ns;
};
static_assert(sizeof(SwitchRecord) == 24);

struct LostRecord {
  perf_event_header header;
  uint64_t id, lost;
};

class Ring {
 public:
  // Maps an event's ring, with the first of the sizes that may be locked. Null, with errno, where none may.
  static std::optional<Ring> map(int fd, std::initializer_list<size_t> sizes) {
    const auto page_bytes = static_cast<size_t>(sysconf(_SC_PAGESIZE));
    for (const size_t bytes : sizes) {
      void* memory = mmap(nullptr, page_bytes + bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
      if (memory != MAP_FAILED) return Ring(static_cast<uint8_t*>(memory), page_bytes, bytes);
    }
    return std::nullopt;
  }
  Ring(Ring&& other) noexcept
      : memory_(std::exchange(other.memory_, nullptr)), page_bytes_(other.page_bytes_), bytes_(other.bytes_) {}
  Ring& operator=(Ring&&) = delete;
  ~Ring() {
    if (memory_) munmap(memory_, page_bytes_ + bytes_);
  }

  template <typename Take>
  void read(Take take) {
    auto* page = reinterpret_cast<perf_event_mmap_page*>(memory_);
    const uint8_t* data = memory_ + page_bytes_;
    const uint64_t head = std::atomic_ref(page->data_head).load(std::memory_order_acquire);
    uint64_t at = page->data_tail;
    while (at < head) {
      uint8_t record[64];
      perf_event_header header;
      copy(data, at, &header, sizeof header);
      if (header.size < sizeof header) break;  // cannot be; never loop for ever
      copy(data, at, record, std::min<size_t>(header.size, sizeof record));
      take(header, record);
      at += header.size;
    }
    std::atomic_ref(page->data_tail).store(head, std::memory_order_release);
  }

 private:
  Ring(uint8_t* memory, size_t page_bytes, size_t bytes) : memory_(memory), page_bytes_(page_bytes), bytes_(bytes) {}

  void copy(const uint8_t* data, uint64_t at, void* to, size_t count) const {
    const size_t begin = at % bytes_;
    const size_t first = std::min(count, bytes_ - begin);
    std::memcpy(to, data + begin, first);
    std::memcpy(static_cast<uint8_t*>(to) + first, data, count - first);
  }

  uint8_t* memory_;
  size_t page_bytes_;
  size_t bytes_;  // a power of two
};

enum class Watched : uint8_t {
  this_process,
  programs,  // that the current thread starts
};

class PerfSwitches : public CpuSwitches {
 public:
  explicit PerfSwitches(Watched watched) : watched_(watched) {}
  ~PerfSwitches() override {
    rings_.clear();
    for (const int fd : descriptors_) close(fd);
  }

  base::Status open_all() {
    const long cpus = sysconf(_SC_NPROCESSORS_CONF);
    const std::vector<pid_t> threads = watched_ == Watched::programs ? std::vector<pid_t>{0} : own_threads();
    if (static_cast<size_t>(cpus) * threads.size() > kDescriptorsMax) {
      return base::Error{std::to_string(threads.size()) + " threads on " + std::to_string(cpus) +
                         " CPUs would need too many file descriptors"};
    }
    for (int cpu = 0; cpu < cpus; ++cpu) {
      if (base::Status opened = open_cpu(cpu, threads); !opened) return opened;
    }
    if (rings_.empty()) return base::Error{"no CPU is online"};
    return {};
  }

  void read(std::vector<CpuSwitch>& switches, bool last) override {
    const int64_t settled_ns = last ? INT64_MAX : base::monotonic_ns() - kSettledNs;
    for (Ring& ring : rings_) {
      ring.read([this](const perf_event_header& header, const uint8_t* bytes) { keep(header, bytes); });
    }
    // A thread may leave one CPU and come back on another whose ring was read before: hold back what is too fresh, so
    // that the order of time is also the order of reading.
    std::stable_sort(kept_.begin(), kept_.end(),
                     [](const CpuSwitch& a, const CpuSwitch& b) { return a.time_ns < b.time_ns; });
    const auto end = std::partition_point(kept_.begin(), kept_.end(),
                                          [settled_ns](const CpuSwitch& s) { return s.time_ns <= settled_ns; });
    switches.insert(switches.end(), kept_.begin(), end);
    kept_.erase(kept_.begin(), end);
  }

  uint64_t lost() const override { return lost_; }

 private:
  static std::vector<pid_t> own_threads() {
    std::vector<pid_t> threads;
    DIR* tasks = opendir("/proc/self/task");
    if (!tasks) return {0};
    while (const dirent* entry = readdir(tasks)) {
      if (entry->d_name[0] != '.') threads.push_back(static_cast<pid_t>(std::atoi(entry->d_name)));
    }
    closedir(tasks);
    return threads;
  }

  int open_event(pid_t thread, int cpu) const {
    perf_event_attr attr{};
    attr.size = sizeof attr;
    attr.type = PERF_TYPE_SOFTWARE;
    attr.config = PERF_COUNT_SW_DUMMY;
    attr.sample_type = PERF_SAMPLE_TID | PERF_SAMPLE_TIME;
    attr.sample_id_all = 1;
    attr.context_switch = 1;
    attr.inherit = 1;
    attr.inherit_thread = watched_ == Watched::this_process;  // not into forked processes
    attr.disabled = attr.enable_on_exec = watched_ == Watched::programs;
    attr.exclude_kernel = 1;
    attr.exclude_hv = 1;
    attr.use_clockid = 1;
    attr.clockid = CLOCK_MONOTONIC;
    long fd = syscall(SYS_perf_event_open, &attr, thread, cpu, -1, PERF_FLAG_FD_CLOEXEC);
    if (fd < 0 && (errno == EINVAL || errno == E2BIG)) {  // before Linux 5.13; keep() filters
      attr.inherit_thread = 0;
      fd = syscall(SYS_perf_event_open, &attr, thread, cpu, -1, PERF_FLAG_FD_CLOEXEC);
    }
    return base::moved_high(static_cast<int>(fd));
  }

  base::Status open_cpu(int cpu, const std::vector<pid_t>& threads) {
    int ring_fd = -1;
    for (const pid_t thread : threads) {
      const int fd = open_event(thread, cpu);
      if (fd < 0) {
        if (errno == ENODEV || errno == ESRCH) continue;  // a CPU that is offline, a thread that ended
        return base::Error{std::string("perf_event_open: ") + std::strerror(errno) +
                           (errno == EACCES || errno == EPERM ? " (see kernel.perf_event_paranoid)" : "")};
      }
      descriptors_.push_back(fd);
      if (ring_fd >= 0) {
        if (ioctl(fd, PERF_EVENT_IOC_SET_OUTPUT, ring_fd) != 0) {
          return base::Error{std::string("joining perf events: ") + std::strerror(errno)};
        }
        continue;
      }
      auto ring =
          watched_ == Watched::programs ? Ring::map(fd, {kLargeRingBytes, kRingBytes}) : Ring::map(fd, {kRingBytes});
      if (!ring) return base::Error{std::string("mapping perf events: ") + std::strerror(errno)};
      rings_.push_back(std::move(*ring));
      ring_fd = fd;
    }
    return {};
  }

  void keep(const perf_event_header& header, const uint8_t* bytes) {
    if (header.type == PERF_RECORD_LOST && header.size >= sizeof(LostRecord)) {
      LostRecord record;
      std::memcpy(&record, bytes, sizeof record);
      lost_ += record.lost;
    }
    if (header.type != PERF_RECORD_SWITCH || header.size < sizeof(SwitchRecord)) return;
    SwitchRecord record;
    std::memcpy(&record, bytes, sizeof record);
    if ((record.pid == own_pid_) != (watched_ == Watched::this_process)) return;
    const bool out = header.misc & PERF_RECORD_MISC_SWITCH_OUT;
    const bool preempted = out && (header.misc & PERF_RECORD_MISC_SWITCH_OUT_PREEMPT);
    kept_.push_back({static_cast<int64_t>(record.time_ns), record.pid, record.tid, !out, preempted});
  }

  const Watched watched_;
  const uint32_t own_pid_ = static_cast<uint32_t>(getpid());
  std::vector<int> descriptors_;
  std::vector<Ring> rings_;
  std::vector<CpuSwitch> kept_;
  uint64_t lost_ = 0;
};

base::Result<std::unique_ptr<CpuSwitches>> open_switches(Watched watched) {
  auto switches = std::make_unique<PerfSwitches>(watched);
  if (base::Status opened = switches->open_all(); !opened) return opened.error();
  return std::unique_ptr<CpuSwitches>(std::move(switches));
}

}  // namespace

base::Result<std::unique_ptr<CpuSwitches>> CpuSwitches::open() {
  return open_switches(Watched::this_process);
}
base::Result<std::unique_ptr<CpuSwitches>> CpuSwitches::open_for_programs() {
  return open_switches(Watched::programs);
}

}  // namespace contrafact::recorder
