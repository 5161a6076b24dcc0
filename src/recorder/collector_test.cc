// Processes that share a collector's memory: what they appended is in their traces, however they end. The processes are
// forked children of the test, which open the recording as the agent does.
#include "recorder/collector.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <filesystem>
#include <new>
#include <thread>

#include "base/clock.h"
#include "base/file.h"
#include "format/testing.h"
#include "recorder/shared_log.h"
#include "recorder/texts.h"

namespace contrafact::recorder {
namespace {

using format::Collected;
using format::PlainEvent;
using testing::HasSubstr;

constexpr const char* kLibrary = "1000 2000 3000 ab12 /lib/libc.so.6";
constexpr const char* kOtherLibrary = "1000 2000 4000 cd34 /lib/other.so";

class CollectorTest : public testing::Test {
 protected:
  void SetUp() override {
    directory_ = testing::TempDir() + "/collector_test." + std::to_string(getpid());
    std::filesystem::create_directory(directory_);
    path_ = directory_ + "/run.cft";
  }
  void TearDown() override { std::filesystem::remove_all(directory_); }

  // Without the processor's counter, so that times are those of base::monotonic_ns().
  void start(bool children = true, uint64_t memory_bytes_max = 4 << 20, bool cpu_switches = false) {
    auto started = Collector::start({.output_path = path_,
                                     .command = "test",
                                     .memory_bytes_max = memory_bytes_max,
                                     .children = children,
                                     .cpu_switches = cpu_switches,
                                     .kernel_clock = true,
                                     .diagnostics = [](std::string_view line) { ADD_FAILURE() << line; }});
    ASSERT_TRUE(started.ok()) << started.error().message;
    collector_ = std::move(*started);
    control_path_ = collector_->control_path();
  }
  // The process id of a child that does `work` and is killed, or has exited before.
  template <typename Work>
  pid_t child(Work work) {
    const pid_t pid = fork();
    if (pid == 0) {
      prctl(PR_SET_PDEATHSIG, SIGKILL);  // a test that fails leaves nobody behind
      work();
      _exit(0);
    }
    return pid;
  }
  static void wait_for(pid_t pid) { ASSERT_EQ(waitpid(pid, nullptr, 0), pid); }
  static int status_of(pid_t pid) {
    int status = -1;
    EXPECT_EQ(waitpid(pid, &status, 0), pid);
    return status;
  }
  Collected load(const std::string& path) {
    Collected got;
    auto reader = format::Reader::open(path);
    EXPECT_TRUE(reader.ok()) << path;
    if (!reader.ok()) return got;
    const format::ReadLoss loss = reader->read(got);
    EXPECT_FALSE(loss.cut_off) << path;
    EXPECT_EQ(loss.blocks_damaged + loss.blocks_missing, 0u) << path;
    return got;
  }
  std::string further(pid_t pid) const { return path_ + "." + std::to_string(pid); }
  // In a child: null, where it could not be recorded.
  SharedLog* open(int32_t pid = getpid(), int32_t parent_pid = 0) const {
    auto log = SharedLog::open(control_path_, pid, parent_pid, false);
    return log.ok() ? *log : nullptr;
  }
  size_t descriptors() const {
    size_t count = 0;
    for (const auto& each : std::filesystem::directory_iterator("/proc/self/fd")) count += each.exists();
    return count;
  }

  std::string directory_, path_, control_path_;
  std::unique_ptr<Collector> collector_;
};

ControlPage* map_control(int fd) {
  void* memory = mmap(nullptr, sizeof(ControlPage), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  EXPECT_NE(memory, MAP_FAILED);
  return static_cast<ControlPage*>(memory);
}

void append(Client* client, uint32_t count) {
  for (uint32_t i = 0; i < count; ++i) Recorder::append(client, EventKind::method_enter, base::monotonic_ns(), i);
}
void exit_by_itself(SharedLog* log) {
  log->page().end_ns.store(base::monotonic_ns());
  _exit(0);
}

// The numbers that append() gave its events.
void expect_events(const Collected& got, uint32_t count) {
  uint32_t next = 0;
  for (const PlainEvent& event : got.events) {
    if (event.kind != EventKind::method_enter) continue;
    EXPECT_EQ(event.operands[0], next++);
  }
  EXPECT_EQ(next, count);
}

TEST_F(CollectorTest, AProgramThatIsKilledLosesNothing) {
  start();
  const pid_t pid = child([&] {
    SharedLog* log = open();
    append(log->attach(static_cast<uint32_t>(getpid()), 0), 30'000);
    kill(getpid(), SIGKILL);
  });
  wait_for(pid);
  const Collector::Finished finished = collector_->finish(pid, "killed");
  EXPECT_TRUE(finished.began);
  EXPECT_TRUE(finished.further.empty());
  const Collected got = load(path_);
  expect_events(got, 30'000);
  ASSERT_EQ(got.trailers.size(), 1u);
  EXPECT_EQ(got.trailers[0].exit_reason, "killed");
  EXPECT_EQ(got.trailers[0].events_dropped, 0u);
}

// Locks and places, as the agent appends them: a remembered pair is recalled, and a pair whose place another one took
// is named anew.
void append_locks(Client* client, RememberedPair* pairs, uint32_t count) {
  int64_t time_ns = base::monotonic_ns();
  for (uint32_t i = 0; i < count; ++i) {
    const uint64_t lock = 0x1000 + i * i % 97 * 64, site = 0x400000 + i % 3;
    const auto kind = i % 2 == 0 ? EventKind::lock_acquire : EventKind::lock_release;
    EXPECT_EQ(Recorder::append_pair(client, pairs, kind, lock, site, [&] { return ++time_ns; }), time_ns);
  }
}
// REQUIRES: `got` has them alone.
void expect_locks(const Collected& got, uint32_t count) {
  ASSERT_EQ(got.events.size(), count);
  for (uint32_t i = 0; i < count; ++i) {
    const PlainEvent& event = got.events[i];
    EXPECT_EQ(event.kind, i % 2 == 0 ? EventKind::lock_acquire : EventKind::lock_release);
    ASSERT_TRUE(got.locks.contains(event.operands[0]));
    EXPECT_EQ(got.locks.at(event.operands[0]).address, 0x1000 + i * i % 97 * 64);
    ASSERT_TRUE(got.contexts.contains(event.operands[1]));
    EXPECT_EQ(got.method_addresses.at(got.contexts.at(event.operands[1]).method.value), 0x400000 + i % 3);
    EXPECT_EQ(event.time_ns, got.events[0].time_ns + i);
  }
}

TEST_F(CollectorTest, RememberedLocksAndPlacesAreThoseThatWereNamed) {
  start();
  const pid_t pid = child([&] {
    SharedLog* log = open();
    Client* client = log->attach(static_cast<uint32_t>(getpid()), 0);
    append_locks(client, log->pairs_of(client), 30'000);
    kill(getpid(), SIGKILL);
  });
  wait_for(pid);
  collector_->finish(pid, "killed");
  expect_locks(load(path_), 30'000);
}

// The client of an ended thread goes to another thread, which remembers nothing of the first one's pairs.
TEST_F(CollectorTest, AThreadDoesNotRememberWhatAnotherNamed) {
  start();
  const pid_t pid = child([&] {
    SharedLog* log = open();
    for (uint32_t thread = 0; thread < 20; ++thread) {
      Client* client = log->attach(1 + thread, thread);
      RememberedPair* pairs = log->pairs_of(client);
      for (uint32_t i = 0; i < kPairs; ++i) {
        if (pairs[i].lock != 0) _exit(1);
      }
      append_locks(client, pairs, 40);
      log->detach(client);
      std::this_thread::sleep_for(std::chrono::milliseconds(30));  // the drainer makes it free
    }
    exit_by_itself(log);
  });
  EXPECT_EQ(status_of(pid), 0);
  collector_->finish(pid, "exit");
  const Collected got = load(path_);
  ASSERT_EQ(got.events.size(), 20u * 40);
  for (const PlainEvent& event : got.events) {
    EXPECT_NE(event.operands[0], UINT32_MAX);
    EXPECT_NE(event.operands[1], UINT32_MAX);
  }
}

// With too little memory events are dropped, some of which named a pair first.
TEST_F(CollectorTest, WhatWasDroppedWasNotRemembered) {
  start(true, 64 << 10);
  const pid_t pid = child([&] {
    SharedLog* log = open();
    Client* client = log->attach(static_cast<uint32_t>(getpid()), 0);
    RememberedPair* pairs = log->pairs_of(client);
    for (uint32_t i = 0; i < 300'000; ++i) {
      const uint64_t lock = 0x1000 + i % 1'009 * 64;
      const int64_t time_ns = static_cast<int64_t>(lock);  // to know it again
      Recorder::append_pair(client, pairs, EventKind::lock_acquire, lock, 0x400000, [&] { return time_ns; });
    }
    exit_by_itself(log);
  });
  EXPECT_EQ(status_of(pid), 0);
  collector_->finish(pid, "exit");
  const Collected got = load(path_);
  ASSERT_EQ(got.trailers.size(), 1u);
  EXPECT_GT(got.trailers[0].events_dropped, 0u);
  size_t checked = 0;
  for (const PlainEvent& event : got.events) {
    if (event.kind != EventKind::lock_acquire) continue;
    ASSERT_TRUE(got.locks.contains(event.operands[0]));
    EXPECT_EQ(got.locks.at(event.operands[0]).address, static_cast<uint64_t>(event.time_ns));
    ++checked;
  }
  EXPECT_GT(checked, 0u);
}

TEST_F(CollectorTest, AProgramThatNeverBeganIsSaidSo) {
  start();
  EXPECT_FALSE(collector_->finish(0, "it did not start").began);
}

// Exec: the same process, another image of it.
TEST_F(CollectorTest, AnImageTakesThePlaceOfTheOneBefore) {
  start(false);
  const pid_t pid = child([&] {
    for (uint32_t image = 0; image < 20; ++image) {
      SharedLog* log = open();
      if (!log) _exit(1);
      append(log->attach(static_cast<uint32_t>(getpid()), 0), 1000 + image);
    }
    kill(getpid(), SIGKILL);
  });
  wait_for(pid);
  const Collector::Finished finished = collector_->finish(pid, "killed");
  EXPECT_TRUE(finished.further.empty());
  EXPECT_EQ(finished.refused, 0u);
  EXPECT_EQ(finished.images_replaced, 19u);
  EXPECT_GT(finished.discarded_ns, 0);
  EXPECT_EQ(finished.events_discarded, 19u * 1000 + 18 * 19 / 2);
  expect_events(load(path_), 1019);
}

TEST_F(CollectorTest, OtherProcessesHaveFilesOfTheirOwn) {
  start();
  const pid_t program = child([&] {
    append(open()->attach(1, 0), 10);
    pause();
  });
  std::vector<pid_t> others;
  while (!std::filesystem::exists(path_)) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  for (uint32_t i = 0; i < 3; ++i) {
    others.push_back(child([&] {
      SharedLog* log = open();
      append(log->attach(1, 0), 100 + i);
      if (i == 0) exit_by_itself(log);
      if (i == 1) kill(getpid(), SIGKILL);
      pause();
    }));
  }
  wait_for(others[0]);
  wait_for(others[1]);
  std::this_thread::sleep_for(std::chrono::milliseconds(200));
  kill(program, SIGKILL);
  wait_for(program);
  const Collector::Finished finished = collector_->finish(program, "killed");
  kill(others[2], SIGKILL);
  wait_for(others[2]);
  EXPECT_TRUE(finished.began);
  ASSERT_EQ(finished.further.size(), 3u);
  for (const auto& recording : finished.further) EXPECT_EQ(recording.is_alive, recording.pid == others[2]);
  expect_events(load(path_), 10);
  constexpr const char* kReasons[] = {"exit", "ended", "the recording ended before the process"};
  for (uint32_t i = 0; i < 3; ++i) {
    const Collected got = load(further(others[i]));
    expect_events(got, 100 + i);
    ASSERT_EQ(got.trailers.size(), 1u);
    EXPECT_EQ(got.trailers[0].exit_reason, kReasons[i]);
  }
}

// Each waits for an area until the collector has made it: none is refused, and none is left behind.
TEST_F(CollectorTest, MoreProcessesThanAreasAtATime) {
  start();  // 16 are ready
  constexpr uint32_t kProcesses = 100;
  const size_t before = descriptors();
  std::vector<pid_t> all;
  for (uint32_t i = 0; i < kProcesses; ++i) {
    all.push_back(child([&] {
      SharedLog* log = open();
      if (!log) _exit(1);
      append(log->attach(1, 0), 50);
      exit_by_itself(log);
    }));
  }
  for (const pid_t pid : all) wait_for(pid);
  size_t now = 0;
  for (int tries = 0; tries < 500; ++tries) {
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
    if ((now = descriptors()) <= before + 4) break;
  }
  EXPECT_LE(now, before + 4) << "what belongs to a process that ended is given back";
  const Collector::Finished finished = collector_->finish(0, "test");
  EXPECT_EQ(finished.refused, 0u);
  ASSERT_EQ(finished.further.size(), kProcesses - 1);  // the first counts as the program
  for (const auto& recording : finished.further) expect_events(load(recording.path), 50);
}

TEST_F(CollectorTest, ADescriptorOfEachProcessOnlyWhileItLives) {
  start();
  constexpr size_t kOfProcess = 2;          // its trace, and itself
  const size_t before = descriptors() + 1;  // the program's trace is there from the start
  const pid_t program = child([&] { append(open()->attach(1, 0), 1), pause(); });
  size_t now = 0;
  for (int tries = 0; tries < 500 && (now = descriptors()) != before; ++tries) {
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  EXPECT_EQ(now, before);
  void* memory = mmap(nullptr, sizeof(std::atomic<int>), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(memory, MAP_FAILED);
  auto& begun = *new (memory) std::atomic<int>(0);  // processes that are recorded
  for (int round = 0; round < 4; ++round) {
    std::vector<pid_t> all;
    for (int i = 0; i < 10; ++i) {
      all.push_back(child([&] { append(open()->attach(1, 0), 1), begun.fetch_add(1), pause(); }));
    }
    // Counting descriptors does not suffice: the worker has others for a moment. The trace is the last of a process'
    // descriptors.
    const auto all_have_begun = [&] {
      return begun.load() == 10 * (round + 1) &&
             std::ranges::all_of(all, [&](pid_t pid) { return std::filesystem::exists(further(pid)); });
    };
    for (int tries = 0; tries < 500 && !all_have_begun(); ++tries) {
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
    EXPECT_GE(descriptors(), before + 10 * kOfProcess);
    for (const pid_t pid : all) kill(pid, SIGKILL);
    for (const pid_t pid : all) wait_for(pid);
    for (int tries = 0; tries < 500 && descriptors() > before; ++tries) {
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
    EXPECT_LE(descriptors(), before);
  }
  kill(program, SIGKILL);
  wait_for(program);
  EXPECT_EQ(collector_->finish(program, "killed").further.size(), 40u);
  munmap(memory, sizeof(std::atomic<int>));
}

// There are no areas: as where the program has begun as many processes as a recording holds.
TEST_F(CollectorTest, WithoutAreasProcessesAreRefusedAndCounted) {
  start();
  const pid_t pid = child([&] {
    ControlPage& control = *map_control(::open(control_path_.c_str(), O_RDWR));
    control.areas_made.store(kAreasMax);
    control.areas_claimed.store(kAreasMax);
    _exit(open() ? 1 : 0);
  });
  EXPECT_EQ(status_of(pid), 0);
  EXPECT_EQ(collector_->finish(0, "test").refused, 1u);
}

// A recorder that has made no area yet, and does nothing by itself: the memory of a control page.
class NoRecorder {
 public:
  NoRecorder() : fd_(memfd_create("control", MFD_CLOEXEC)) {
    EXPECT_EQ(ftruncate(fd_, sizeof(ControlPage)), 0);
    control_ = new (map_control(fd_)) ControlPage;
    control_->area_bytes = deferred::SharedArea::bytes_for(kMemoryBytes);
    control_->clock.start(false, {});
  }
  ~NoRecorder() {
    munmap(control_, sizeof *control_);
    close(fd_);
  }
  std::string path_in(pid_t pid) const { return "/proc/" + std::to_string(pid) + "/fd/" + std::to_string(fd_); }
  const ControlPage& control() const { return *control_; }
  void make_area() {
    auto area = deferred::SharedArea::create(kMemoryBytes);
    ASSERT_TRUE(area.ok());
    control_->area_fd[0].store(*area);
    control_->areas_made.store(1);
  }

 private:
  static constexpr uint64_t kMemoryBytes = 1 << 20;
  int fd_;
  ControlPage* control_;
};

// The recorder may have no core for a while. A process that begins meanwhile is recorded all the same.
TEST_F(CollectorTest, ARecorderThatIsLateIsWaitedFor) {
  NoRecorder late;
  control_path_ = late.path_in(getpid());
  const pid_t pid = child([&] { _exit(open() ? 0 : 1); });
  std::this_thread::sleep_for(std::chrono::milliseconds(500));
  late.make_area();
  EXPECT_EQ(status_of(pid), 0);
  EXPECT_EQ(late.control().refused.load(), 0u);
  close(late.control().area_fd[0].load());
}

TEST_F(CollectorTest, ARecorderThatIsStoppedIsNotWaitedFor) {
  NoRecorder stopped;
  const pid_t recorder = child([] { raise(SIGSTOP); });
  ASSERT_EQ(waitpid(recorder, nullptr, WUNTRACED), recorder);
  const auto log = SharedLog::open(stopped.path_in(recorder), getpid(), 0, false);
  ASSERT_FALSE(log.ok());
  EXPECT_EQ(log.error().message, "this process is not recorded: the recorder is stopped");
  EXPECT_EQ(stopped.control().refused.load(), 1u);
  kill(recorder, SIGKILL);
  wait_for(recorder);
}

// As for want of descriptors: the recorder says so before anybody waits.
TEST_F(CollectorTest, ARecorderThatCanMakeNoMoreAreasIsNotWaitedFor) {
  start();
  rlimit before{};
  getrlimit(RLIMIT_NOFILE, &before);
  const rlimit none{0, before.rlim_max};
  const int fd = ::open(control_path_.c_str(), O_RDWR);
  ControlPage& control = *map_control(fd);
  setrlimit(RLIMIT_NOFILE, &none);
  const uint32_t made = control.areas_made.load();
  control.areas_claimed.store(made);  // all that were ready
  for (int tries = 0; tries < 5000 && control.waited_in_vain.load() != made; ++tries) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  EXPECT_EQ(control.waited_in_vain.load(), made);
  setrlimit(RLIMIT_NOFILE, &before);
  munmap(&control, sizeof control);
  close(fd);
}

// The id belongs to another process now: the first one's trace stays.
TEST_F(CollectorTest, AProcessIdThatIsUsedAgain) {
  start();
  constexpr int32_t kId = 1 << 30;  // nobody's
  const pid_t program = child([&] { append(open()->attach(1, 0), 1), pause(); });
  std::this_thread::sleep_for(std::chrono::milliseconds(50));
  wait_for(child([&] {
    SharedLog* log = open(kId);
    append(log->attach(1, 0), 100);
    log->page().end_ns.store(base::monotonic_ns());
    SharedLog* next = open(kId);
    append(next->attach(1, 0), 200);
  }));
  kill(program, SIGKILL);
  wait_for(program);
  EXPECT_EQ(collector_->finish(program, "killed").further.size(), 2u);
  expect_events(load(further(kId)), 100);
  expect_events(load(further(kId) + ".2"), 200);
}

void list_library(Client* client, const char* library) {
  append_text(client, TextKind::library, 0, {}, library);
  append_text(client, TextKind::libraries, 0, {}, {});
}

// However soon after that its parent ends or becomes another program.
TEST_F(CollectorTest, AForkedProcessHasItsParentsLibraries) {
  for (const bool becomes_another : {false, true}) {
    start();
    pid_t forked = 0;
    int ends[2];
    ASSERT_EQ(pipe(ends), 0);
    const pid_t program = child([&] {
      SharedLog* log = open();
      list_library(log->attach(1, 0), kLibrary);
      const int32_t parent_pid = getpid();
      const pid_t pid = child([&] {
        append(open(getpid(), parent_pid)->attach(1, 0), 10);
        _exit(0);
      });
      waitpid(pid, nullptr, 0);
      if (write(ends[1], &pid, sizeof pid) != sizeof pid) _exit(1);
      if (becomes_another) list_library(open()->attach(1, 0), kOtherLibrary);
    });
    ASSERT_EQ(read(ends[0], &forked, sizeof forked), static_cast<ssize_t>(sizeof forked));
    close(ends[0]);
    close(ends[1]);
    wait_for(program);
    EXPECT_EQ(collector_->finish(program, "exit").further.size(), 1u);
    EXPECT_THAT(load(further(forked)).facts["module.0"], HasSubstr(kLibrary));
    EXPECT_THAT(load(path_).facts["module.0"], HasSubstr(becomes_another ? kOtherLibrary : kLibrary));
    collector_.reset();
  }
}

TEST_F(CollectorTest, ALimitOnTheSizeOfFilesIsNamedAndLeavesNoFile) {
  const pid_t pid = child([&] {
    signal(SIGXFSZ, SIG_IGN);
    const rlimit limit{500'000, 500'000};
    setrlimit(RLIMIT_FSIZE, &limit);
    const auto collector = Collector::start({.output_path = path_});
    _exit(!collector.ok() && collector.error().message.ends_with("the limit of `ulimit -f` is too low") ? 0 : 1);
  });
  int status = 0;
  ASSERT_EQ(waitpid(pid, &status, 0), pid);
  EXPECT_EQ(status, 0);
  EXPECT_NE(access(path_.c_str(), F_OK), 0);
}

TEST_F(CollectorTest, AProcessThatCouldNotOpenItsAreaLeavesNothingBehind) {
  start(false);
  const pid_t program = child([&] { append(open()->attach(1, 0), 1), pause(); });
  std::this_thread::sleep_for(std::chrono::milliseconds(50));
  const size_t before = descriptors();
  for (int i = 0; i < 20; ++i) {
    const pid_t pid = child([&] {
      const auto map = base::read_text_file("/proc/self/statm");
      rlimit limit{};
      getrlimit(RLIMIT_AS, &limit);
      limit.rlim_cur = std::stoull(*map) * 4096 + (6 << 20);  // less than the area
      setrlimit(RLIMIT_AS, &limit);
      const auto log = SharedLog::open(control_path_, getpid(), 0, false);
      _exit(!log.ok() && log.error().message.starts_with("cannot map memory to share") ? 0 : 1);
    });
    int status = 0;
    ASSERT_EQ(waitpid(pid, &status, 0), pid);
    ASSERT_EQ(status, 0) << "it was to fail with the area, not before";
  }
  std::this_thread::sleep_for(std::chrono::milliseconds(50));
  EXPECT_LE(descriptors(), before);
  kill(program, SIGKILL);
  wait_for(program);
  EXPECT_TRUE(collector_->finish(program, "killed").further.empty());
}

constexpr const char* kControlVariable = "CONTRAFACT_TEST_CONTROL";
constexpr int kSleeps = 25;

// What the next test starts: a program that the recorder comes to know only after it has slept 25 times.
TEST(CollectorsProgram, DISABLED_IsKnownLate) {
  const char* const control_path = std::getenv(kControlVariable);
  ASSERT_NE(control_path, nullptr);
  const auto log = SharedLog::open(control_path, 0, 0, false);
  ASSERT_TRUE(log.ok());
  Client* const client = (*log)->attach(static_cast<uint32_t>(getpid()), 0);
  append(client, 1);
  for (int i = 0; i < kSleeps; ++i) std::this_thread::sleep_for(std::chrono::milliseconds(10));
  (*log)->page().pid.store(getpid());
  append(client, 1);
  exit_by_itself(*log);
}

// As when the recorder gets no core for a while, before programs of a real-time priority.
TEST_F(CollectorTest, SwitchesFromBeforeAProcessIsKnownAreKept) {
  start(false, 4 << 20, true);
  const pid_t pid = child([&] {
    setenv(kControlVariable, control_path_.c_str(), 1);
    execl("/proc/self/exe", "recorder_test", "--gtest_filter=CollectorsProgram.*", "--gtest_also_run_disabled_tests",
          "--gtest_brief=1", nullptr);
  });
  wait_for(pid);
  EXPECT_TRUE(collector_->finish(pid, "exit").began);
  const Collected got = load(path_);
  if (got.facts.at("cpu.switches") != "kernel") GTEST_SKIP() << got.facts.at("cpu.switches");
  EXPECT_GE(std::ranges::count(got.events, EventKind::cpu_out, &PlainEvent::kind), kSleeps);
}

// Otherwise a program whose threads are busy leaves the recorder no core.
TEST_F(CollectorTest, TheWorkerGoesAboveAProgramOfARealTimePriority) {
  constexpr int kMayNot = 77;
  start(false);
  const pid_t pid = child([&] {
    const sched_param lowest{sched_get_priority_min(SCHED_RR)};
    if (sched_setscheduler(0, SCHED_RR, &lowest) != 0) _exit(kMayNot);
    SharedLog* log = open();
    append(log->attach(static_cast<uint32_t>(getpid()), 0), 10);
    exit_by_itself(log);
  });
  const int status = status_of(pid);
  if (WEXITSTATUS(status) == kMayNot) GTEST_SKIP() << "a real-time priority is not allowed";
  EXPECT_TRUE(collector_->finish(pid, "exit").began);
  const Collected got = load(path_);
  expect_events(got, 10);
  EXPECT_EQ(got.facts.at("recorder.real_time_priority"), std::to_string(sched_get_priority_min(SCHED_RR) + 1));
}

// The recorder is gone, and its path leads elsewhere.
TEST_F(CollectorTest, AnotherFileInThePlaceOfTheControlPageIsLeftAlone) {
  const std::string empty = directory_ + "/empty", zeros = directory_ + "/zeros";
  close(::open(empty.c_str(), O_CREAT | O_RDWR, 0600));
  close(::open(zeros.c_str(), O_CREAT | O_RDWR, 0600));
  std::filesystem::resize_file(zeros, 1 << 20);
  for (const std::string& path : {empty, zeros, std::string("/dev/null")}) {
    const auto opened = SharedLog::open(path, getpid(), 0, false);
    ASSERT_FALSE(opened.ok()) << path;
    EXPECT_EQ(opened.error().message, "this process is not recorded: the recorder is gone, or of another version");
  }
}

}  // namespace
}  // namespace contrafact::recorder
