#include "recorder/recorder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <thread>

#include "base/clock.h"
#include "format/testing.h"
#include "recorder/idle_cores.h"

namespace contrafact::recorder {
namespace {

using format::BlockReason;
using format::Collected;
using format::MethodRow;
using format::Outcome;
using format::PlainEvent;
using format::Reader;
using format::RunSource;
using format::ThreadRow;
using testing::ElementsAre;
using testing::HasSubstr;

class RecorderTest : public testing::Test {
 protected:
  std::unique_ptr<Recorder> start(Options options = {}) {
    options.output_path = path_;
    auto recorder = Recorder::start(std::move(options));
    EXPECT_TRUE(recorder.ok()) << recorder.error().message;
    return std::move(*recorder);
  }
  Collected load() {
    Collected collected;
    auto reader = Reader::open(path_);
    EXPECT_TRUE(reader.ok());
    loss_ = reader->read(collected);
    std::erase_if(collected.events, [this](const PlainEvent& event) {
      if (event.source == RunSource::kernel) kernel_.push_back(event);
      return event.source == RunSource::kernel;
    });
    return collected;
  }
  void TearDown() override { std::filesystem::remove(path_); }

  std::string path_ = testing::TempDir() + "/recorder_test." + std::to_string(getpid()) + ".cft";
  format::ReadLoss loss_;
  std::vector<PlainEvent> kernel_;
};

ThreadRow this_thread(StringId name) {
  return {.name = name, .os_tid = static_cast<uint64_t>(gettid())};
}

TEST_F(RecorderTest, TheTraceIsItsUsersAlone) {
  const mode_t before = umask(0);
  start()->stop("test");
  umask(before);
  struct stat status;
  ASSERT_EQ(stat(path_.c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777, 0600u);
}

// Other threads may close or overwrite any number: the drainer has a table of descriptors of its own.
TEST_F(RecorderTest, NobodyElseReachesTheTracesDescriptor) {
  const auto open_files = [](const std::string& folder) {
    std::vector<std::string> files;
    std::error_code gone;
    for (const auto& entry : std::filesystem::directory_iterator(folder, gone))
      files.push_back(std::filesystem::read_symlink(entry, gone));
    return files;
  };
  auto recorder = start();
  const std::string trace = std::filesystem::canonical(path_);
  if (syscall(SYS_close_range, ~0U, ~0U, 0) != 0) GTEST_SKIP() << "no close_range";
  EXPECT_THAT(open_files("/proc/self/fd"),
              testing::Not(testing::AnyOf(testing::Contains(trace), testing::Contains("/proc/stat"))));
  std::vector<std::vector<std::string>> of_threads;
  for (const auto& thread : std::filesystem::directory_iterator("/proc/self/task"))
    of_threads.push_back(open_files(thread.path() / "fd"));
  EXPECT_THAT(of_threads, testing::Contains(testing::UnorderedElementsAre(trace, "/proc/stat")));
  recorder->stop("exit");
  EXPECT_EQ(load().trailers.size(), 1u);
}

TEST_F(RecorderTest, IdleCoresAreCountedToTheEnd) {
  auto recorder = start({.drain_interval_ms = 1});
  Client* client = recorder->attach(this_thread(StringId()));
  const int64_t end_ns = base::monotonic_ns() + 3 * IdleCores::kEachNs;
  while (base::monotonic_ns() < end_ns) {
    Recorder::append(client, EventKind::task_start, base::monotonic_ns(), 1u);
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  recorder->stop("exit");
  if (load().facts.at("cpu.switches") != "kernel") GTEST_SKIP() << "no switches of the kernel's";
  const auto idle = std::count_if(kernel_.begin(), kernel_.end(),
                                  [](const PlainEvent& event) { return event.kind == EventKind::cores_idle; });
  EXPECT_GE(idle, 2);
}

TEST_F(RecorderTest, UntilWhenCoresWereKeptAwakeIsAFact) {
  const auto report = AwakeReport::make();
  ASSERT_TRUE(report.ok());
  start({.awake = *report})->stop("exit");
  EXPECT_EQ(load().facts.at("cores.awake_ns"), "500000000");
  EXPECT_FALSE(load().facts.contains("cores.awake_until_ns")) << "to the end";
  std::filesystem::remove(path_);
  auto recorder = start({.awake = *report});
  (*report)->set_until(1234);
  recorder->stop("exit");
  EXPECT_EQ(load().facts.at("cores.awake_until_ns"), "1234");
  std::filesystem::remove(path_);
  start()->stop("exit");
  EXPECT_FALSE(load().facts.contains("cores.awake_ns"));
}

TEST_F(RecorderTest, ArgumentsAreLeftOutWhereTheyAreNotWanted) {
  start({.command_arguments = false})->stop("test");
  const std::string name = load().facts.at("command");
  std::filesystem::remove(path_);
  start()->stop("test");
  const std::string whole = load().facts.at("command");
  EXPECT_EQ(name, std::filesystem::read_symlink("/proc/self/exe").filename());
  EXPECT_NE(whole.find(name), std::string::npos);
  EXPECT_EQ(name.find('/'), std::string::npos);
}

TEST_F(RecorderTest, WritesEventsRowsAndFacts) {
  auto recorder = start({.facts = {{"jvm.version", "17"}}});
  const StringId name = recorder->intern("main");
  EXPECT_EQ(recorder->intern("main"), name);
  Client* client = recorder->attach(this_thread(name));
  const MethodRow row{recorder->intern("shop.Feed"), recorder->intern("load"), StringId(), 7};
  const MethodId method = recorder->add_method(row);
  EXPECT_EQ(recorder->add_method(row), method);
  const MethodId other = recorder->add_method({recorder->intern("shop.Main"), recorder->intern("main"), StringId(), 1});
  const Frame stack[] = {{method, 9}, {other, 3}};
  const ContextId context = recorder->intern_context(stack);
  EXPECT_EQ(recorder->intern_context(recorder->intern_context(ContextId(), other, 3), method, 9), context);
  const PoolId pool = recorder->add_pool({recorder->intern("pool-1"), format::PoolKind::thread_pool, 2, 2});
  const ThreadId virtual_thread = recorder->add_thread({.kind = format::ThreadKind::virtual_thread, .java_tid = 30});
  recorder->add_fact("probe.cost_ns", "21");

  Recorder::append(client, EventKind::thread_begin, 100);
  Recorder::append(client, EventKind::task_spawn, 110, 5u, context.value, pool.value, method.value);
  Recorder::append_as(client, virtual_thread, EventKind::task_start, 120, 5u);
  Recorder::append_as(client, virtual_thread, EventKind::task_end, 130, 5u, static_cast<uint32_t>(Outcome::exception));
  Recorder::append(client, EventKind::thread_end, 140);
  recorder->detach(client);
  recorder->stop("exit");

  const Collected got = load();
  const ThreadId main(0);
  EXPECT_THAT(
      got.events,
      ElementsAre(
          PlainEvent{main, RunSource::program, EventKind::thread_begin, 100},
          PlainEvent{
              main, RunSource::program, EventKind::task_spawn, 110, {5, context.value, pool.value, method.value}},
          PlainEvent{virtual_thread, RunSource::program, EventKind::task_start, 120, {5}},
          PlainEvent{virtual_thread, RunSource::program, EventKind::task_end, 130, {5, 1}},
          PlainEvent{main, RunSource::program, EventKind::thread_end, 140}));
  EXPECT_EQ(got.strings.at(got.threads.at(0).name.value), "main");
  EXPECT_EQ(got.threads.at(virtual_thread.value).java_tid, 30u);
  EXPECT_EQ(got.contexts.at(context.value).line, 9u);
  EXPECT_EQ(got.contexts.at(got.contexts.at(context.value).parent.value).method, other);
  EXPECT_EQ(got.strings.at(got.methods.at(method.value).name.value), "load");
  EXPECT_EQ(got.facts.at("jvm.version"), "17");
  EXPECT_EQ(got.facts.at("probe.cost_ns"), "21");
  EXPECT_EQ(got.facts.at("pid"), std::to_string(getpid()));
  EXPECT_THAT(got.facts.at("command"), HasSubstr("recorder_test"));
  ASSERT_EQ(got.trailers.size(), 1u);
  EXPECT_EQ(got.trailers[0].exit_reason, "exit");
  EXPECT_EQ(loss_.notes.size(), 0u);
}

// Threads that add rows and at once name them in events, while the drainer writes.
TEST_F(RecorderTest, RowsAreAlwaysInFrontOfTheEventsThatNameThem) {
  auto recorder = start({.drain_interval_ms = 1});
  std::vector<std::thread> threads;
  for (uint32_t t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      Client* client = recorder->attach(this_thread(recorder->intern("worker " + std::to_string(t))));
      for (uint32_t i = 0; i < 5'000; ++i) {
        const StringId name = recorder->intern(std::to_string(t) + "." + std::to_string(i));
        const MethodId method = recorder->add_method({name, name, name, i});
        const ContextId context = recorder->intern_context(ContextId(), method, i);
        Recorder::append(client, EventKind::task_create, base::monotonic_ns(), i, context.value, method.value);
      }
      recorder->detach(client);
    });
  }
  for (auto& thread : threads) thread.join();
  recorder->stop("exit");

  struct Ordered : Collected {
    uint64_t unknown = 0;
    void on_events(const format::EventBlock& block) override {
      size_t extra = 0;
      for (const format::EventRun& run : block.runs) {
        unknown += !threads.contains(run.thread.value);
        for (uint32_t i = run.begin; i < run.end; ++i) {
          if (block.kind[i] != EventKind::task_create) continue;
          unknown += !contexts.contains(block.b[i]) || !methods.contains(block.extra[extra++]);
          ++events_seen;
        }
      }
    }
    uint64_t events_seen = 0;
  } ordered;
  loss_ = Reader::open(path_)->read(ordered);
  EXPECT_EQ(ordered.unknown, 0u);
  EXPECT_EQ(ordered.events_seen, 20'000u);
}

TEST_F(RecorderTest, DropsBecomeGapEventsWithExactCounts) {
  auto recorder = start({.memory_bytes_max = 8'000, .drain_interval_ms = 50});
  Client* client = recorder->attach(this_thread(StringId()));
  constexpr uint32_t kEvents = 20'000;
  for (uint32_t i = 0; i < kEvents; ++i) Recorder::append(client, EventKind::task_start, i, i);
  recorder->stop("exit");
  const Collected got = load();
  uint64_t dropped = 0, events = 0;
  uint32_t next = 0;
  for (const PlainEvent& event : got.events) {
    if (event.kind == EventKind::gap) {
      dropped += event.operands[0];
      next += event.operands[0];
      continue;
    }
    EXPECT_EQ(event.operands[0], next++);
    ++events;
  }
  EXPECT_GT(dropped, 0u);
  EXPECT_EQ(events + dropped, kEvents);
  EXPECT_EQ(got.trailers.at(0).events_dropped, dropped);
  EXPECT_EQ(recorder->statistics().events_dropped, dropped);
}

TEST_F(RecorderTest, KernelTellsWhenAThreadLeftItsCore) {
  auto recorder = start();
  std::thread([&] {
    Client* client = recorder->attach(this_thread(recorder->intern("sleeper")));
    for (int i = 0; i < 10; ++i) std::this_thread::sleep_for(std::chrono::milliseconds(2));
    recorder->detach(client);
  }).join();
  std::this_thread::sleep_for(std::chrono::milliseconds(3));
  recorder->flush();
  recorder->stop("exit");
  const Collected got = load();
  if (got.facts.at("cpu.switches") != "kernel") GTEST_SKIP() << got.facts.at("cpu.switches");
  uint32_t blocked = 0;
  int64_t last_ns = 0;
  bool in = true;
  for (const PlainEvent& event : kernel_) {
    EXPECT_EQ(event.thread, ThreadId(0));
    EXPECT_GE(event.time_ns, last_ns);
    last_ns = event.time_ns;
    if (event.kind == EventKind::cpu_out) {
      EXPECT_TRUE(in);
      blocked += event.operands[0] == static_cast<uint32_t>(Outcome::blocked);
    }
    in = event.kind == EventKind::cpu_in;
  }
  EXPECT_GE(blocked, 10u);
  EXPECT_LT(std::abs(base::monotonic_ns() - last_ns), int64_t{60} * 1'000'000'000) << "the same clock";
}

TEST_F(RecorderTest, KernelTellsWhatCoresThreadsHadThatNobodyAttached) {
  auto recorder = start();
  Client* client = recorder->attach({.name = recorder->intern("collector")});
  recorder->note_unattached(client);
  const auto used_ns = [] {
    timespec time;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return time.tv_sec * int64_t{1'000'000'000} + time.tv_nsec;
  };
  const auto compute = [&] {
    while (used_ns() < 40'000'000) {
    }
  };
  int64_t cpu_ns = 0;
  std::thread([&] {
    compute();
    std::this_thread::sleep_for(std::chrono::milliseconds(1));  // the kernel does not report a thread that ends
    cpu_ns = used_ns();
  }).join();
  // Attached while it has a core: from then on it is one of the program's.
  std::thread([&] {
    compute();
    Client* own = recorder->attach(this_thread(recorder->intern("late")));
    recorder->flush();
    std::this_thread::sleep_for(std::chrono::milliseconds(200));
    recorder->detach(own);
  }).join();
  std::this_thread::sleep_for(std::chrono::milliseconds(3));
  recorder->stop("exit");
  const Collected got = load();
  if (got.facts.at("cpu.switches") != "kernel") GTEST_SKIP() << got.facts.at("cpu.switches");
  int64_t ran_ns = 0, last_ns = 0;
  for (const PlainEvent& event : kernel_) {
    if (event.kind != EventKind::vm_ran) continue;  // of the late one
    EXPECT_EQ(event.thread, Recorder::thread_of(client));
    EXPECT_GE(event.time_ns, last_ns) << "in order of time";
    last_ns = event.time_ns;
    ran_ns += int64_t{event.operands[0]} * 1'000;
  }
  // The test's own thread is another one that nobody attached, and sleeps.
  EXPECT_GT(ran_ns, cpu_ns / 2);
  EXPECT_LT(ran_ns, 3 * cpu_ns);
}

TEST_F(RecorderTest, AFullDiskStopsTheRecordingAndNotTheProgram) {
  std::vector<std::string> lines;
  path_ = testing::TempDir() + "/unused.cft";
  struct FullSink : format::Sink {
    base::Status write(std::span<const uint8_t> block) override {
      written += block.size();
      if (written > 4'000) return base::Error{"cannot write run.cft: No space left on device"};
      return {};
    }
    size_t written = 0;
  };
  Options options{.sink = std::make_unique<FullSink>(), .drain_interval_ms = 1};
  options.diagnostics = [&](std::string_view line) { lines.emplace_back(line); };
  auto recorder = Recorder::start(std::move(options));
  ASSERT_TRUE(recorder.ok());
  Client* client = (*recorder)->attach(this_thread(StringId()));
  for (uint32_t i = 0; i < 300'000; ++i)
    Recorder::append(client, EventKind::task_start, base::monotonic_ns(), i * 77'777u);
  (*recorder)->stop("exit");
  EXPECT_TRUE((*recorder)->statistics().failed);
  EXPECT_GT((*recorder)->statistics().events_dropped, 0u);
  EXPECT_THAT(lines,
              ElementsAre("recording stopped, the program went on: cannot write run.cft: No space left on device"));
}

// A limit on the file's size fails like a full disk, in the middle of a block, and sends a signal that kills by
// default.
TEST_F(RecorderTest, AFileThatMayNotGrowEndsWithAWholeBlock) {
  const pid_t child = fork();
  if (child == 0) {
    const rlimit limit{20'000, 20'000};
    setrlimit(RLIMIT_FSIZE, &limit);
    auto recorder = Recorder::start({.output_path = path_, .drain_interval_ms = 1});
    Client* client = (*recorder)->attach(this_thread(StringId()));
    for (uint32_t i = 0; !(*recorder)->statistics().failed; ++i) {
      Recorder::append(client, EventKind::task_start, base::monotonic_ns(), i * 77'777u);
      if (i % 1000 == 0) (*recorder)->flush();
    }
    (*recorder)->stop("exit");
    _exit(42);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  ASSERT_TRUE(WIFEXITED(status)) << "signal " << WTERMSIG(status);
  EXPECT_EQ(WEXITSTATUS(status), 42);
  const Collected got = load();
  EXPECT_EQ(loss_.blocks_damaged + loss_.blocks_missing + loss_.bytes_skipped, 0u);
  EXPECT_GT(got.events.size(), 1000u);
  ASSERT_EQ(got.trailers.size(), 1u);
  EXPECT_THAT(got.trailers[0].exit_reason, HasSubstr("File too large"));
  EXPECT_GT(got.trailers[0].events_dropped, 0u);
}

// The limit lies so many bytes behind a block of events.
TEST_F(RecorderTest, TheEndTakesThePlaceOfTheLastBlocksWhereThereIsNoRoomBehindThem) {
  for (const rlim_t room : std::initializer_list<rlim_t>{0, 1, 40, 100}) {
    const pid_t child = fork();
    if (child == 0) {
      auto recorder = Recorder::start({.output_path = path_, .drain_interval_ms = 1});
      Client* client = (*recorder)->attach(this_thread(StringId()));
      const auto append = [&](uint32_t events) {
        for (uint32_t i = 0; i < events; ++i)
          Recorder::append(client, EventKind::task_start, base::monotonic_ns(), i * 77'777u);
        (*recorder)->flush();
      };
      append(100);
      const rlim_t written = (*recorder)->statistics().bytes_written;
      const rlimit limit{written + room, written + room};
      setrlimit(RLIMIT_FSIZE, &limit);
      append(2'000);
      (*recorder)->stop("exit");
      _exit((*recorder)->statistics().events_dropped > 0 ? 42 : 1);
    }
    int status = 0;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    ASSERT_TRUE(WIFEXITED(status)) << "signal " << WTERMSIG(status);
    EXPECT_EQ(WEXITSTATUS(status), 42);
    kernel_.clear();
    const Collected got = load();
    EXPECT_EQ(loss_.blocks_damaged + loss_.blocks_missing + loss_.bytes_skipped, 0u);
    ASSERT_EQ(got.trailers.size(), 1u) << room;
    EXPECT_THAT(got.trailers[0].exit_reason, HasSubstr("File too large"));
    EXPECT_EQ(got.trailers[0].events, got.events.size() + kernel_.size());
    EXPECT_GE(got.trailers[0].events_dropped + got.events.size(), 2'100u);
  }
}

TEST_F(RecorderTest, SaysWhyItCannotStart) {
  EXPECT_THAT(Recorder::start({.output_path = "/nowhere/run.cft"}).error().message,
              HasSubstr("cannot create /nowhere/run.cft"));
}

TEST_F(RecorderTest, AForkedChildWritesNothing) {
  auto recorder = start({.drain_interval_ms = 1});
  Client* client = recorder->attach(this_thread(StringId()));
  Recorder::append(client, EventKind::task_start, 1, 1u);
  const pid_t child = fork();
  if (child == 0) {
    for (uint32_t i = 0; i < 10'000; ++i) Recorder::append(client, EventKind::task_start, 2, 99u);
    recorder->flush();
    recorder->stop("child");
    recorder.reset();
    _exit(0);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  Recorder::append(client, EventKind::task_start, 3, 2u);
  recorder->stop("parent");
  const Collected got = load();
  EXPECT_THAT(got.events, ElementsAre(PlainEvent{ThreadId(0), RunSource::program, EventKind::task_start, 1, {1}},
                                      PlainEvent{ThreadId(0), RunSource::program, EventKind::task_start, 3, {2}}));
  EXPECT_EQ(got.trailers.at(0).exit_reason, "parent");
}

TEST_F(RecorderTest, StopWithThreadsStillRunningIsSafe) {
  auto recorder = start({.drain_interval_ms = 1});
  std::atomic<bool> end{false};
  std::vector<std::thread> threads;
  for (int t = 0; t < 3; ++t) {
    threads.emplace_back([&] {
      Client* client = recorder->attach(this_thread(StringId()));
      while (!end) Recorder::append(client, EventKind::block_end, base::monotonic_ns(), 0u);
      recorder->detach(client);
    });
  }
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  recorder->stop("exit");
  recorder->stop("again");
  const uint64_t written = recorder->statistics().events_written;
  end = true;
  for (auto& thread : threads) thread.join();
  const Collected got = load();
  EXPECT_EQ(got.events.size() + kernel_.size(), written);
  EXPECT_EQ(got.trailers.size(), 1u);
  EXPECT_EQ(got.trailers[0].exit_reason, "exit");
}

// A program with connections may be asked about under other loads.
TEST_F(RecorderTest, MeasuresWhatFillingCachesTakesWhereThereAreConnections) {
  for (const bool has_connection : {false, true}) {
    auto recorder = start({.drain_interval_ms = 1});
    Client* client = recorder->attach(this_thread(recorder->intern("main")));
    if (has_connection)
      recorder->add_connection({.kind = format::ConnectionKind::accepted, .local_port = 80, .remote_port = 5001});
    for (int i = 0; i < (has_connection ? 150 : 50); ++i) {
      Recorder::append(client, EventKind::thread_begin, 100 + i);
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
    recorder->detach(client);
    recorder->stop("exit");
    EXPECT_EQ(load().facts.contains("core.refill_ns"), has_connection);
  }
}

}  // namespace
}  // namespace contrafact::recorder
