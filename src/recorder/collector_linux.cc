#include "recorder/collector.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <map>
#include <new>
#include <utility>

#include "base/clock.h"
#include "deferred/background_thread.h"
#include "deferred/wakeup.h"
#include "recorder/mapped_by.h"
#include "recorder/process_facts.h"
#include "recorder/process_log.h"
#include "recorder/real_time.h"

namespace contrafact::recorder {
namespace {

constexpr int64_t kMillisecondNs = 1'000'000;
// If `record` is killed, what was written more than 100 ms before is in the file (docs/native.md). A pass is due 45 ms
// after the last one began. The worker notices within its nap of 5 ms, and may wake 20 ms late before it counts as
// without a core. 45 + 5 + 20 = 70: the pass itself, which writes the file, has the other 30. It takes a few: while
// much comes, a pass begins every millisecond.
constexpr int64_t kLookNs = 5 * kMillisecondNs;         // between two looks at what is waiting
constexpr int64_t kBusyLookNs = kMillisecondNs;         // while much comes, or processes may wait for areas
constexpr int64_t kPassNs = 20 * kMillisecondNs;        // between two passes where a core is idle
constexpr int64_t kLateNs = 20 * kMillisecondNs;        // a worker that wakes so late gets no core
constexpr int64_t kUntakenNsMax = 45 * kMillisecondNs;  // and where none is
constexpr uint32_t kAreasAhead = 2;                     // for what the program becomes between two looks
constexpr uint32_t kAreasAheadOfChildren = 16;          // and for other processes
constexpr size_t kUnclaimedMax = 1 << 16;               // switches of processes that are not recorded, or not yet

// Descriptors of the recording process beside those of areas.
class Descriptor {
 public:
  explicit Descriptor(int fd = -1) : fd_(fd) {}
  Descriptor(Descriptor&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  Descriptor& operator=(Descriptor&& other) noexcept {
    std::swap(fd_, other.fd_);
    return *this;
  }
  ~Descriptor() {
    if (fd_ >= 0) close(fd_);
  }
  int get() const { return fd_; }

 private:
  int fd_;
};

struct Process {
  std::unique_ptr<ProcessLog> log;  // null where it could not begin
  std::string path;
  int32_t pid = 0;
  Descriptor pidfd;
  std::vector<CpuSwitch> switches;  // that its log has not taken
};

class SharedCollector final : public Collector {
 public:
  explicit SharedCollector(Options options) : options_(std::move(options)) {}
  ~SharedCollector() override {
    stop_threads();
    if (control_) munmap(control_, sizeof(ControlPage));
  }

  base::Status begin();
  std::string control_path() const override {
    return "/proc/" + std::to_string(getpid()) + "/fd/" + std::to_string(control_fd_.get());
  }
  Finished finish(int32_t pid, std::string_view reason) override;

 private:
  static void* work(void* self);
  static void* find_idle_time(void* self);
  void run();
  void raise_worker_above(int32_t pid);
  void stop_threads();
  bool wants_pass() const;
  void look();
  void pass();
  void make_areas();
  void take_claims();
  void begin_process(deferred::SharedArea area);
  void discard(Process& process, int64_t now_ns);
  Process& new_process(int32_t pid);
  std::vector<Fact> facts_of(int32_t pid, int64_t begin_ns) const;
  void read_switches(bool last);
  void claim_switches(Process& process);
  static bool has_ended(const Process& process);
  Process* process_of(int32_t pid);
  bool is_program(const Process& process) const { return &process == processes_.front().get(); }
  std::vector<std::string> libraries_of(int32_t pid);
  void end_process(Process& process, std::string_view reason);

  const Options options_;
  Descriptor control_fd_;
  ControlPage* control_ = nullptr;
  std::string clock_source_;
  std::unique_ptr<CpuSwitches> cpu_switches_;
  std::string switches_fact_;
  std::unique_ptr<format::Sink> first_sink_;

  // The worker's while it runs.
  std::map<uint32_t, Descriptor> ahead_;  // areas that nobody has claimed, by number
  struct Claimed {
    uint32_t number;
    Descriptor fd;
    deferred::SharedArea area;
  };
  std::vector<Claimed> claimed_;                     // whose processes are opening them
  std::vector<std::unique_ptr<Process>> processes_;  // the program's own, which stays, and others that live
  std::vector<Recording> ended_;                     // recordings of others
  std::map<int32_t, std::vector<std::string>> libraries_of_ended_;  // by process id: children may still begin
  uint32_t images_replaced_ = 0;
  uint64_t events_discarded_ = 0;
  int64_t discarded_ns_ = 0;
  std::vector<CpuSwitch> switches_;
  std::vector<CpuSwitch> unclaimed_;  // the latest of processes that have not begun, nearly in order of time
  int64_t last_pass_ns_ = 0;
  bool is_busy_ = false;
  int real_time_priority_ = 0;

  deferred::Wakeup wakeup_;
  std::atomic<bool> core_is_idle_{false};
  std::atomic<bool> stopping_{false};
  bool runs_ = false, has_idle_finder_ = false;
  pthread_t worker_{}, idle_finder_{};
};

// The error of the last call. Memory to share counts as a file for the limit on file sizes.
base::Error cannot_share(const char* what) {
  const int error = errno;
  return base::Error{std::string("cannot ") + what + " memory to share: " + std::strerror(error) +
                     (error == EFBIG ? ", the limit of `ulimit -f` is too low" : "")};
}

base::Status SharedCollector::begin() {
  const int fd = memfd_create("contrafact", MFD_CLOEXEC);
  if (fd < 0) return cannot_share("make");
  control_fd_ = Descriptor(fd);
  void* memory = ftruncate(fd, sizeof(ControlPage)) != 0
                     ? MAP_FAILED
                     : mmap(nullptr, sizeof(ControlPage), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  if (memory == MAP_FAILED) return cannot_share("map");
  control_ = new (memory) ControlPage;
  control_->area_bytes = deferred::SharedArea::bytes_for(options_.memory_bytes_max);
  const char* const why_not = options_.kernel_clock ? "as asked for" : why_not_the_counter();
  control_->clock.start(why_not == nullptr, read_clock_pair());
  clock_source_ = why_not ? std::string("kernel: ") + why_not : "processor";
  auto sink = format::open_file_sink(options_.output_path);
  if (!sink) return sink.error();
  first_sink_ = std::move(*sink);
  make_areas();  // behind the file: they take what descriptors there are
  if (ahead_.empty()) {
    const base::Error why = cannot_share("make");
    ::unlink(options_.output_path.c_str());  // it holds nothing
    return why;
  }

  // Before our own threads begin, which may not see it change. They inherit it, and start no programs.
  switches_fact_ = "unavailable: switched off";
  if (options_.cpu_switches) {
    auto opened = CpuSwitches::open_for_programs();
    switches_fact_ = opened ? "kernel" : "unavailable: " + opened.error().message;
    if (opened) cpu_switches_ = std::move(*opened);
  }
  if (base::Status started = deferred::start_background_thread("collector", work, this, worker_); !started) {
    return started;
  }
  runs_ = true;
  control_->worker_tid.wait(0);  // first: a program may leave it no core, and has to know its id
  base::Status started = deferred::start_background_thread("idle finder", find_idle_time, this, idle_finder_);
  has_idle_finder_ = started.ok();
  return started;
}

void SharedCollector::make_areas() {
  const uint32_t ahead = options_.children ? kAreasAheadOfChildren : kAreasAhead;
  const uint32_t wanted = std::min(kAreasMax, control_->areas_claimed.load(std::memory_order_acquire) + ahead);
  for (uint32_t number = control_->areas_made.load(std::memory_order_relaxed); number < wanted; ++number) {
    const auto made = deferred::SharedArea::create(options_.memory_bytes_max);
    if (!made) {  // as for want of descriptors: nobody waits for it
      control_->waited_in_vain.store(number, std::memory_order_relaxed);
      return;
    }
    control_->area_fd[number].store(*made, std::memory_order_relaxed);
    ahead_.emplace(number, Descriptor(*made));
    control_->areas_made.store(number + 1, std::memory_order_release);
  }
}

void* SharedCollector::work(void* self) {
  static_cast<SharedCollector*>(self)->run();
  return nullptr;
}

void* SharedCollector::find_idle_time(void* self) {
  auto& collector = *static_cast<SharedCollector*>(self);
  deferred::lower_priority_to_idle();
  while (!collector.stopping_.load(std::memory_order_relaxed)) {
    collector.core_is_idle_.store(true, std::memory_order_relaxed);
    const timespec nap{0, kPassNs / 2};
    nanosleep(&nap, nullptr);
  }
  return nullptr;
}

void SharedCollector::stop_threads() {
  stopping_.store(true, std::memory_order_release);
  wakeup_.wake();
  if (std::exchange(runs_, false)) pthread_join(worker_, nullptr);
  if (std::exchange(has_idle_finder_, false)) pthread_join(idle_finder_, nullptr);
}

void SharedCollector::run() {
  real_time_priority_ = deferred::raise_above_real_time(0, deferred::own_real_time_priority());
  control_->worker_tid.store(gettid(), std::memory_order_relaxed);
  control_->worker_tid.notify_all();
  while (!stopping_.load(std::memory_order_acquire)) {
    const bool is_waited_for = processes_.empty() || control_->areas_claimed.load(std::memory_order_relaxed) ==
                                                         control_->areas_made.load(std::memory_order_relaxed);
    const int64_t nap_ns = is_busy_ || is_waited_for ? kBusyLookNs : kLookNs;
    const int64_t end_ns = base::monotonic_ns() + nap_ns;
    wakeup_.sleep(nap_ns);
    if (base::monotonic_ns() - end_ns > kLateNs) {
      for (const auto& process : processes_) raise_worker_above(process->pid);
    }
    look();
  }
  real_time_priority_ = deferred::own_real_time_priority();
}

// A program whose threads are busy at real-time priorities leaves the worker no core, and kernel and buffers have
// limited room. A program that begins at such a priority has raised the worker itself (SharedLog::open).
void SharedCollector::raise_worker_above(int32_t pid) {
  if (stopping_.load(std::memory_order_relaxed)) return;  // no longer the worker
  real_time_priority_ = deferred::raise_above_real_time(0, real_time_priority_of(pid));
}

bool SharedCollector::wants_pass() const {
  return std::ranges::any_of(processes_,
                             [](const auto& process) { return process->log && process->log->wants_pass(); });
}

void SharedCollector::look() {
  make_areas();
  take_claims();
  is_busy_ = wants_pass();
  const int64_t since_ns = base::monotonic_ns() - last_pass_ns_;
  const bool idle = core_is_idle_.exchange(false, std::memory_order_relaxed);
  if (is_busy_ || since_ns >= kUntakenNsMax || (idle && since_ns >= kPassNs)) pass();
}

void SharedCollector::pass() {
  last_pass_ns_ = base::monotonic_ns();
  control_->clock.steer(read_clock_pair());
  read_switches(false);
  std::vector<int32_t> gone;
  for (const auto& process : processes_) {
    // The program's own trace ends with finish(), which knows how it ended.
    if (!is_program(*process) && has_ended(*process)) gone.push_back(process->pid);
  }
  // A process that went on as another program (exec) has claimed an area for that before it ended, maybe since the last
  // look.
  if (!gone.empty()) take_claims();
  std::erase_if(processes_, [this, &gone](const auto& process) {
    const bool ended = std::ranges::find(gone, process->pid) != gone.end() && !is_program(*process);
    if (!process->log) return ended;
    if (ended) {
      end_process(*process, process->log->has_exited() ? "exit" : "ended");
      ended_.push_back({process->path, process->pid, false});
    } else {
      process->log->pass(process->switches);
      process->switches.clear();
      process->log->prefault();
    }
    return ended;
  });
}

void SharedCollector::take_claims() {
  const uint32_t claimed = control_->areas_claimed.load(std::memory_order_acquire);
  while (!ahead_.empty() && ahead_.begin()->first < claimed) {
    const uint32_t number = ahead_.begin()->first;
    Descriptor fd = std::move(ahead_.extract(ahead_.begin()).mapped());
    auto area = deferred::SharedArea::map(fd.get(), control_->area_bytes);
    if (!area) {
      options_.diagnostics(area.error().message);
      continue;
    }
    claimed_.push_back({number, std::move(fd), std::move(*area)});
  }
  std::erase_if(claimed_, [this](Claimed& opening) {
    if (control_->area_fd[opening.number].load(std::memory_order_acquire) == kGivenUp) return true;
    if (page_of(opening.area.header()).pid.load(std::memory_order_acquire) == 0) return false;
    begin_process(std::move(opening.area));
    make_areas();  // a process' begin takes a while, and more may be waiting
    return true;
  });
}

Process* SharedCollector::process_of(int32_t pid) {
  for (const auto& process : processes_) {
    if (process->pid == pid) return process.get();
  }
  return nullptr;
}

Process& SharedCollector::new_process(int32_t pid) {
  auto process = std::make_unique<Process>();
  process->pid = pid;
  process->path = processes_.empty() ? options_.output_path : options_.output_path + "." + std::to_string(pid);
  for (size_t i = 2; !processes_.empty() && access(process->path.c_str(), F_OK) == 0; ++i) {
    process->path = options_.output_path + "." + std::to_string(pid) + "." + std::to_string(i);
  }
  return *processes_.emplace_back(std::move(process));
}

std::vector<Fact> SharedCollector::facts_of(int32_t pid, int64_t begin_ns) const {
  std::vector<Fact> facts = process_facts(pid, begin_ns, options_.command, options_.command_arguments);
  facts.insert(facts.end(), options_.facts.begin(), options_.facts.end());
  facts.push_back({"clock.source", clock_source_});
  facts.push_back({"cpu.switches", switches_fact_});
  facts.push_back({"recorder.memory_bytes_max", std::to_string(options_.memory_bytes_max)});
  facts.push_back({"recorder.drain_interval_ms", std::to_string(kPassNs / kMillisecondNs)});
  return facts;
}

// The process goes on as another program, and its file begins again with that program.
void SharedCollector::discard(Process& process, int64_t now_ns) {
  if (!process.log) return;
  process.log->take_committed();
  ++images_replaced_;
  events_discarded_ += process.log->calls_taken();
  discarded_ns_ += std::max<int64_t>(0, now_ns - process.log->begin_ns());
  process.log.reset();
}

// A process that went on as another program (exec) is recorded as that program: its trace begins again. If the known
// process with that id has exited, this is another one with the same id.
void SharedCollector::begin_process(deferred::SharedArea area) {
  const ProcessPage& page = page_of(area.header());
  const int32_t pid = page.pid.load(std::memory_order_acquire);
  const int64_t begin_ns = page.begin_ns.load(std::memory_order_relaxed);
  const int32_t parent_pid = page.parent_pid.load(std::memory_order_relaxed);
  // Now: the parent may end, or go on as another program.
  const std::vector<std::string> inherited = parent_pid != 0 ? libraries_of(parent_pid) : std::vector<std::string>();
  Process* process = process_of(pid);
  if (process && process->log && !is_program(*process) && process->log->has_exited()) {
    process->switches.clear();
    end_process(*process, "exit");
    ended_.push_back({process->path, pid, false});
    std::erase_if(processes_, [process](const auto& each) { return each.get() == process; });
    process = nullptr;
  }
  if (!process) process = &new_process(pid);
  discard(*process, begin_ns);
  process->pidfd = Descriptor(static_cast<int>(syscall(SYS_pidfd_open, pid, 0)));
  raise_worker_above(pid);
  std::unique_ptr<format::Sink> sink = std::exchange(first_sink_, nullptr);
  if (!sink) {
    auto opened = format::open_file_sink(process->path);
    if (!opened) return options_.diagnostics(opened.error().message);
    sink = std::move(*opened);
  }
  auto log = ProcessLog::begin(std::move(area), std::move(sink),
                               {.facts = facts_of(pid, begin_ns),
                                .awake = options_.awake,
                                .cpu_switches = cpu_switches_ != nullptr,
                                .diagnostics = options_.diagnostics});
  if (!log) return options_.diagnostics(log.error().message);
  process->log = std::move(*log);
  claim_switches(*process);
  if (parent_pid != 0) process->log->inherit_libraries(inherited);
}

// The libraries that a process has loaded, including those that it listed since the last pass.
std::vector<std::string> SharedCollector::libraries_of(int32_t pid) {
  if (Process* process = process_of(pid); process && process->log) {
    process->log->take_committed();
    return process->log->libraries();
  }
  const auto ended = libraries_of_ended_.find(pid);
  return ended != libraries_of_ended_.end() ? ended->second : std::vector<std::string>();
}

void SharedCollector::end_process(Process& process, std::string_view reason) {
  if (!process.log) return;
  if (control_->clock.uses_counter()) {
    process.log->add_fact("clock.error_ns", std::to_string(control_->clock.error_ns()));
    if (control_->clock.late() > 0) process.log->add_fact("clock.late", std::to_string(control_->clock.late()));
  }
  if (cpu_switches_ && cpu_switches_->lost() > 0) {
    process.log->add_fact("cpu.switches.lost", std::to_string(cpu_switches_->lost()));
  }
  if (real_time_priority_ > 0) {
    process.log->add_fact("recorder.real_time_priority", std::to_string(real_time_priority_));
  }
  process.log->finish(reason, process.switches);
  process.switches.clear();
  libraries_of_ended_.insert_or_assign(process.pid, process.log->libraries());
  process.log.reset();
}

// A process runs for a while before it is known here, and for long where this process gets no core.
void SharedCollector::read_switches(bool last) {
  if (!cpu_switches_) return;
  switches_.clear();
  cpu_switches_->read(switches_, last);
  for (const CpuSwitch& each : switches_) {
    Process* const process = process_of(static_cast<int32_t>(each.os_pid));
    if (!process)
      unclaimed_.push_back(each);
    else if (process->log)
      process->switches.push_back(each);
  }
  if (unclaimed_.size() > kUnclaimedMax) unclaimed_.erase(unclaimed_.begin(), unclaimed_.end() - kUnclaimedMax);
}

void SharedCollector::claim_switches(Process& process) {
  const auto others = std::stable_partition(unclaimed_.begin(), unclaimed_.end(), [&process](const CpuSwitch& each) {
    return static_cast<int32_t>(each.os_pid) == process.pid;
  });
  process.switches.insert(process.switches.end(), unclaimed_.begin(), others);
  unclaimed_.erase(unclaimed_.begin(), others);
}

bool SharedCollector::has_ended(const Process& process) {
  if (process.pidfd.get() < 0) return kill(process.pid, 0) != 0 && errno == ESRCH;
  pollfd ends{process.pidfd.get(), POLLIN, 0};
  return poll(&ends, 1, 0) == 1;
}

Collector::Finished SharedCollector::finish(int32_t pid, std::string_view reason) {
  stop_threads();
  control_->closed.store(true, std::memory_order_release);
  take_claims();
  control_->clock.steer(read_clock_pair());
  read_switches(true);
  Finished finished{.began = !processes_.empty(),
                    .further = ended_,
                    .refused = control_->refused.load(),
                    .images_replaced = images_replaced_,
                    .events_discarded = events_discarded_,
                    .discarded_ns = discarded_ns_};
  for (const auto& process : processes_) {
    const bool is_alive = process->log && process->pid != pid && !has_ended(*process);
    end_process(*process, is_program(*process) ? reason : is_alive ? "the recording ended before the process" : "exit");
    if (!is_program(*process)) finished.further.push_back({process->path, process->pid, is_alive});
  }
  if (finished.began && !options_.children) {
    finished.forked_and_alive = static_cast<uint32_t>(processes_that_map(control_fd_.get()).size());
  }
  return finished;
}

}  // namespace

base::Result<std::unique_ptr<Collector>> Collector::start(Options options) {
  auto collector = std::make_unique<SharedCollector>(std::move(options));
  if (base::Status begun = collector->begin(); !begun) return begun.error();
  return std::unique_ptr<Collector>(std::move(collector));
}

}  // namespace contrafact::recorder
