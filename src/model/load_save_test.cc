#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdio>
#include <filesystem>
#include <random>
#include <tuple>

#include "base/file.h"
#include "format/testing.h"
#include "format/writer.h"
#include "model/finish.h"
#include "model/load.h"
#include "model/save.h"
#include "model/section_sets.h"
#include "model/text_trace.h"
#include "model/trace_builder.h"

namespace contrafact::model {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr std::string_view kProgram = R"(origin estimated
fact cores 2
note "something is missing"
thread main
thread w1 daemon
thread w2 virtual_thread
pool p1 fork_join 2 2 "common"
method m1 shop.Feed.load Feed.java:12
method m2 shop.Feed.item Feed.java:40
context c1 - m1:14
context c2 c1 m2:41
pause 40 45
vm_ran 3000 8000
cores_idle 2000 1000
cores_idle 3000 0
cpu w1 15 17 preempted
0 main thread_begin
1 main task_create t1 c1 m2
2 main task_spawn t1 c1 p1 m2
2 main task_spawn t2 c2 p1 m1
3 main task_delay t2 3
3 main task_depends t3 t1 any
3 main task_depends t3 t2 any
3 w1 worker_idle p1 1
4 w1 worker_busy p1 2
5 w1 task_start t1
6 w1 method_enter m2
30 w1 method_exit m2 exception
31 w1 task_complete t1 exception
32 w1 task_end t1 exception
33 w1 wake main
3003 w2 task_start t2
3010 w2 task_end t2
3011 main thread_end
)";

constexpr std::string_view kNativeProgram = R"(thread main
thread w1
method m1 .work w.cc:3
context c1 - m1:14
lock l1 mutex "queue"
access_set s1 complete 0x1000+8:r 0x1008+4:rwcmo
access_set s2 complete
access_set s3 system_call 0x2000+65536:rw
access_log main 1 5 complete 0 0x1000+8:r 0x7ffc00001000+4:rwcmn 0x1000+16:rw
access_log w1 2 9 signal 12
access_log main 5 6 complete 0 0x2000+1:w
0 main lock_acquire l1 c1
5 main accesses s1
6 main lock_release l1 c1
8 w1 lock_acquire l1 c1
9 w1 accesses s3
9 w1 accesses s2
9 w1 accesses
11 w1 lock_release l1 c1
)";

// A server's thread answers one peer and asks another.
constexpr std::string_view kConnections = R"(thread main
connection n1 accepted 8080 51234
connection n2 other 0 0
connection n3 connected 40000 5432
endpoint e1 "GET /orders/{}"
0 main receive n1 120
1 main endpoint e1 path
2 main endpoint e1 pattern
5 main send n3 17
6 main block_begin io
8 main block_end io
8 main receive n3 4294967295
9 main send n1 512
11 main receive n1
12 main send n2 1
)";

class LoadSave : public ::testing::Test {
 protected:
  void SetUp() override {
    directory_ = std::filesystem::temp_directory_path() / ("load_save_" + std::to_string(::getpid()));
    std::filesystem::create_directories(directory_);
  }
  void TearDown() override { std::filesystem::remove_all(directory_); }
  std::string path(const std::string& name) const { return (directory_ / name).string(); }
  std::filesystem::path directory_;
};

TEST_F(LoadSave, ABinaryFileHoldsTheWholeTrace) {
  base::Result<Trace> trace = parse_text(kProgram);
  ASSERT_TRUE(trace.ok()) << trace.error().message;
  const std::string file = path("a.cft");
  base::Status saved = save(*trace, file);
  ASSERT_TRUE(saved.ok()) << saved.error().message;
  base::Result<Trace> loaded = load_any(file);
  ASSERT_TRUE(loaded.ok()) << loaded.error().message;
  EXPECT_EQ(print_text(*loaded), print_text(*trace));
}

TEST_F(LoadSave, ConnectionsSurviveTheFileAndTheText) {
  const base::Result<Trace> trace = parse_text(kConnections);
  ASSERT_TRUE(trace.ok()) << trace.error().message;
  EXPECT_EQ(print_text(*trace), kConnections);
  const std::string file = path("a.cft");
  ASSERT_TRUE(save(*trace, file).ok());
  const base::Result<Trace> loaded = load_any(file);
  ASSERT_TRUE(loaded.ok()) << loaded.error().message;
  EXPECT_EQ(print_text(*loaded), kConnections);
  ASSERT_EQ(loaded->connections.size(), 3u);
  EXPECT_EQ(loaded->connections[2].kind, format::ConnectionKind::connected);
  EXPECT_EQ(loaded->connections[2].remote_port, 5432u);
  EXPECT_FALSE(loaded->loss.any());
}

// Of a connection whose row is lost it is only known that bytes went somewhere.
TEST_F(LoadSave, EventsOfLostConnectionsNameNone) {
  std::vector<uint8_t> bytes;
  auto writer = format::Writer::create(std::make_unique<format::MemorySink>(bytes));
  const format::ThreadRow thread;
  const format::ConnectionRow connection{format::ConnectionKind::accepted, 80, 50'000};
  ASSERT_TRUE((*writer)->add_threads({&thread, 1}).ok() && (*writer)->add_connections({&connection, 1}).ok());
  format::EventEncoder encoder;
  encoder.begin_run(ThreadId(0));
  for (const uint32_t id : {0u, 1u, UINT32_MAX}) {
    const uint32_t operands[] = {id, 10};
    encoder.append(EventKind::receive, 5, operands);
  }
  ASSERT_TRUE((*writer)->add_events(encoder).ok() && (*writer)->finish({}).ok());
  const std::string file = path("lost.cft");
  ASSERT_TRUE(base::write_file(file, std::span<const uint8_t>(bytes)).ok());
  const base::Result<Trace> loaded = load_any(file);
  ASSERT_TRUE(loaded.ok()) << loaded.error().message;
  EXPECT_THAT(loaded->a, testing::ElementsAre(0, UINT32_MAX, UINT32_MAX));
  EXPECT_THAT(loaded->b, testing::Each(10));
  EXPECT_THAT(loaded->loss.notes, testing::ElementsAre("1 reference to table rows that are not in the file"));
}

TEST_F(LoadSave, AccessesSurviveTheFileAndTheText) {
  base::Result<Trace> trace = parse_text(kNativeProgram);
  ASSERT_TRUE(trace.ok()) << trace.error().message;
  EXPECT_EQ(print_text(*trace), kNativeProgram);
  const std::string file = path("a.cft");
  ASSERT_TRUE(save(*trace, file).ok());
  base::Result<Trace> loaded = load_any(file, {.access_log = true});
  ASSERT_TRUE(loaded.ok()) << loaded.error().message;
  EXPECT_EQ(print_text(*loaded), kNativeProgram);
  loaded = load_any(file);  // counted, not kept
  ASSERT_TRUE(loaded.ok());
  EXPECT_EQ(loaded->access_log.accesses, 4u);
  EXPECT_EQ(loaded->access_log.lost, 12u);
  EXPECT_TRUE(loaded->access_log.chunks.empty());
}

// A file with one block for each of two threads' chunks, in turn, each of three accesses; and where the blocks are.
struct LoggedFile {
  std::vector<uint8_t> bytes;
  std::vector<size_t> blocks;
};

LoggedFile logged_file(size_t chunks) {
  LoggedFile file;
  auto writer = format::Writer::create(std::make_unique<format::MemorySink>(file.bytes));
  const format::ThreadRow threads[2];
  EXPECT_TRUE((*writer)->add_threads(threads).ok());
  format::AccessEncoder encoder;
  uint8_t bytes[3 * format::AccessEncoder::kBytesMax];
  uint8_t* end = bytes;
  for (uint64_t i = 0; i < 3; ++i) end = encoder.put(end, {0x1000 + 8 * i, 8, format::kAccessRead});
  for (size_t i = 0; i < chunks; ++i) {
    const auto time_ns = static_cast<int64_t>(i);
    const format::AccessChunk chunk{.thread = static_cast<uint32_t>(i % 2),
                                    .begin_ns = time_ns,
                                    .end_ns = time_ns + 1,
                                    .accesses = 3,
                                    .bytes = {bytes, end}};
    file.blocks.push_back(file.bytes.size());
    EXPECT_TRUE((*writer)->add_access_chunks({&chunk, 1}).ok());
  }
  EXPECT_TRUE((*writer)->add_fact("accesses.count", std::to_string(3 * chunks)).ok());
  EXPECT_TRUE((*writer)->finish({"exit"}).ok());
  return file;
}

TEST_F(LoadSave, DamagedBlocksOfTheAccessLogAreGaps) {
  const std::string file = path("damaged.cft");
  const auto load_damaged = [&](std::initializer_list<size_t> damaged) {
    LoggedFile logged = logged_file(8);
    for (const size_t block : damaged) logged.bytes[logged.blocks[block] + sizeof(format::BlockHeader)] ^= 1;
    EXPECT_TRUE(base::write_file(file, {reinterpret_cast<const char*>(logged.bytes.data()), logged.bytes.size()}).ok());
    base::Result<Trace> loaded = load_any(file, {.access_log = true});
    EXPECT_TRUE(loaded.ok());
    return loaded.ok() ? std::move(*loaded) : Trace();
  };
  const auto gaps_of = [](const Trace& trace) {
    std::vector<format::SetGap> gaps;
    for (const AccessLog::Chunk& chunk : trace.access_log.chunks) gaps.push_back(chunk.gap);
    return gaps;
  };
  using enum format::SetGap;

  Trace trace = load_damaged({});
  EXPECT_EQ(trace.access_log.accesses, 24u);
  EXPECT_EQ(trace.access_log.gaps + trace.access_log.chunks_missing + trace.access_log.accesses_missing, 0u);
  EXPECT_EQ(gaps_of(trace), std::vector(8, complete));

  // After each hole the next chunk of either thread says so, once.
  trace = load_damaged({2, 3, 5});
  EXPECT_EQ(trace.access_log.accesses, 15u);
  EXPECT_EQ(trace.access_log.chunks_missing, 3u);
  EXPECT_EQ(trace.access_log.accesses_missing, 9u);
  EXPECT_EQ(trace.access_log.gaps, 0u);  // the recorder had none
  EXPECT_EQ(trace.loss.blocks_damaged, 3u);
  EXPECT_EQ(gaps_of(trace), (std::vector{complete, complete, lost, lost, lost}));
  ASSERT_TRUE(save(trace, file).ok());
  base::Result<Trace> again = load_any(file, {.access_log = true});
  ASSERT_TRUE(again.ok());
  EXPECT_EQ(gaps_of(*again), gaps_of(trace));
  EXPECT_EQ(again->access_log.gaps, 3u);
  EXPECT_EQ(again->access_log.accesses_missing, 9u);

  trace = load_damaged({1});
  EXPECT_EQ(gaps_of(trace), (std::vector{complete, lost, lost, complete, complete, complete, complete}));

  // Nothing comes after these, but the recorder said how much there was.
  trace = load_damaged({6, 7});
  EXPECT_EQ(trace.access_log.chunks_missing, 0u);
  EXPECT_EQ(trace.access_log.accesses_missing, 6u);
  EXPECT_EQ(gaps_of(trace), std::vector(6, complete));

  const base::Result<Trace> counted = load_any(file);  // the same counts without the chunks
  ASSERT_TRUE(counted.ok());
  EXPECT_EQ(counted->access_log.accesses_missing, 6u);
}

// A section in four blocks of events: it begins, reads, reads again, and ends. A second one lies behind. Without the
// block of the second read, all that is known of the first is a part.
TEST_F(LoadSave, WhatDamageTookOfASectionIsNotCalledComplete) {
  std::vector<uint8_t> bytes;
  std::vector<size_t> blocks;
  auto writer = format::Writer::create(std::make_unique<format::MemorySink>(bytes));
  const format::ThreadRow thread;
  const format::LockRow lock{.address = 1};
  const format::AccessRange range{0x1000, 8, format::kAccessRead};
  const format::AccessSetRow set{.gap = format::SetGap::complete, .ranges = {&range, 1}};
  ASSERT_TRUE((*writer)->add_threads({&thread, 1}).ok() && (*writer)->add_locks({&lock, 1}).ok());
  ASSERT_TRUE((*writer)->add_access_sets({&set, 1}).ok());
  int64_t now_ns = 10;
  const auto add_block = [&](std::initializer_list<EventKind> kinds) {
    blocks.push_back(bytes.size());
    format::EventEncoder encoder;
    encoder.begin_run(ThreadId(0));
    const uint32_t operands[format::kOperandsMax] = {0, UINT32_MAX};
    for (const EventKind kind : kinds) encoder.append(kind, now_ns += 10, operands);
    ASSERT_TRUE((*writer)->add_events(encoder).ok());
  };
  add_block({EventKind::lock_acquire});
  add_block({EventKind::accesses});
  add_block({EventKind::accesses, EventKind::accesses});
  add_block({EventKind::lock_release});
  add_block({EventKind::lock_acquire, EventKind::accesses, EventKind::lock_release});
  ASSERT_TRUE((*writer)->finish({}).ok());
  const auto gaps_of = [&](size_t damaged) {
    std::vector<uint8_t> changed = bytes;
    if (damaged < blocks.size()) changed[blocks[damaged] + sizeof(format::BlockHeader)] ^= 1;
    const std::string file = path("part.cft");
    EXPECT_TRUE(base::write_file(file, std::span<const uint8_t>(changed)).ok());
    const base::Result<Trace> loaded = load_any(file);
    EXPECT_TRUE(loaded.ok());
    if (damaged < blocks.size()) {
      EXPECT_THAT(loaded->loss.notes,
                  Contains(damaged == 2 ? "2 events are missing, of 8" : "1 event is missing, of 8"));
    }
    const std::vector<CriticalSection> sections = critical_sections(*loaded);
    const SectionSets sets = section_sets(*loaded, sections);
    std::vector<format::SetGap> gaps;
    for (size_t s = 0; s < sections.size(); ++s) gaps.push_back(sets.gap_of(sets.of_section[s]));
    return gaps;
  };
  using enum format::SetGap;
  EXPECT_EQ(gaps_of(SIZE_MAX), (std::vector{complete, complete}));
  EXPECT_EQ(gaps_of(1), (std::vector{lost, complete}));
  EXPECT_EQ(gaps_of(2), (std::vector{lost, complete}));
}

// A hole before a thread's first event is none of the thread's: what it lacks lies between its two blocks.
TEST_F(LoadSave, AHoleBeforeAThreadBeginsDoesNotHideTheOneWithinItsSection) {
  std::vector<uint8_t> bytes;
  std::vector<size_t> blocks;
  auto writer = format::Writer::create(std::make_unique<format::MemorySink>(bytes));
  const format::ThreadRow threads[2];
  const format::LockRow lock{.address = 1};
  const format::AccessRange range{0x1000, 8, format::kAccessRead};
  const format::AccessSetRow set{.gap = format::SetGap::complete, .ranges = {&range, 1}};
  ASSERT_TRUE((*writer)->add_threads(threads).ok() && (*writer)->add_locks({&lock, 1}).ok());
  ASSERT_TRUE((*writer)->add_access_sets({&set, 1}).ok());
  int64_t now_ns = 10;
  const auto add_block = [&](uint32_t thread, std::initializer_list<EventKind> kinds) {
    blocks.push_back(bytes.size());
    format::EventEncoder encoder;
    encoder.begin_run(ThreadId(thread));
    const uint32_t operands[format::kOperandsMax] = {0, UINT32_MAX};
    for (const EventKind kind : kinds) encoder.append(kind, now_ns += 10, operands);
    ASSERT_TRUE((*writer)->add_events(encoder).ok());
  };
  add_block(0, {EventKind::thread_begin});
  add_block(0, {EventKind::thread_end});
  add_block(1, {EventKind::lock_acquire, EventKind::accesses});
  add_block(1, {EventKind::accesses});
  add_block(1, {EventKind::lock_release});
  ASSERT_TRUE((*writer)->finish({}).ok());
  const auto gap_without = [&](std::initializer_list<size_t> damaged) {
    std::vector<uint8_t> changed = bytes;
    for (const size_t block : damaged) changed[blocks[block] + sizeof(format::BlockHeader)] ^= 1;
    const std::string file = path("part.cft");
    EXPECT_TRUE(base::write_file(file, std::span<const uint8_t>(changed)).ok());
    const base::Result<Trace> loaded = load_any(file);
    EXPECT_TRUE(loaded.ok());
    const std::vector<CriticalSection> sections = critical_sections(*loaded);
    const SectionSets sets = section_sets(*loaded, sections);
    EXPECT_EQ(sections.size(), 1u);
    return sets.gap_of(sets.of_section[0]);
  };
  using enum format::SetGap;
  EXPECT_EQ(gap_without({1}), complete);
  EXPECT_EQ(gap_without({3}), lost);
  EXPECT_EQ(gap_without({1, 3}), lost);
}

// Blocks 0 and 1 of the file hold the first rows of threads and of locks, which the trace loses with them.
TEST_F(LoadSave, EventsOfLostThreadsAndLocksAreKept) {
  const std::string file = path("lost.cft");
  std::vector<uint8_t> bytes;
  auto writer = format::Writer::create(std::make_unique<format::MemorySink>(bytes));
  const format::ThreadRow first_thread, second_thread{.os_tid = 7};
  const format::LockRow first_lock{.address = 1}, second_lock{.address = 2};
  ASSERT_TRUE((*writer)->add_threads({&first_thread, 1}).ok() && (*writer)->add_locks({&first_lock, 1}).ok());
  const size_t kept_from = bytes.size();
  ASSERT_TRUE((*writer)->add_threads({&second_thread, 1}).ok() && (*writer)->add_locks({&second_lock, 1}).ok());
  format::EventEncoder encoder;
  for (uint32_t thread = 0; thread < 2; ++thread) {
    encoder.begin_run(ThreadId(thread));
    for (uint32_t lock = 0; lock < 2; ++lock) {
      const uint32_t operands[] = {lock, UINT32_MAX};
      encoder.append(EventKind::lock_acquire, 10 + lock, operands);
    }
  }
  ASSERT_TRUE((*writer)->add_events(encoder).ok() && (*writer)->finish({}).ok());
  bytes.erase(bytes.begin() + sizeof(format::FileHeader), bytes.begin() + static_cast<ptrdiff_t>(kept_from));
  ASSERT_TRUE(base::write_file(file, std::span<const uint8_t>(bytes)).ok());
  const base::Result<Trace> loaded = load_any(file);
  ASSERT_TRUE(loaded.ok()) << loaded.error().message;
  ASSERT_EQ(loaded->threads.size(), 2u);
  EXPECT_EQ(loaded->threads[0].os_tid, 7u);
  EXPECT_EQ(loaded->thread_ranges[1].size(), 2u);
  ASSERT_EQ(loaded->locks.size(), 2u);
  EXPECT_EQ(loaded->locks[0].address, 2u);
  EXPECT_THAT(loaded->a, testing::ElementsAre(1, 0, 1, 0));  // the lost lock is another one
}

// More threads than rows may be lost, whose rows follow their events.
TEST_F(LoadSave, RowsMayFollowTheEventsOfTheirThreads) {
  const std::string file = path("late_rows.cft");
  std::vector<uint8_t> bytes;
  auto writer = format::Writer::create(std::make_unique<format::MemorySink>(bytes));
  const std::vector<format::ThreadRow> rows(kRowsLostMax + 100);
  format::EventEncoder encoder;
  for (uint32_t thread = 0; thread < rows.size(); ++thread) {
    encoder.begin_run(ThreadId(thread));
    const uint32_t operands[] = {UINT32_MAX, UINT32_MAX};
    encoder.append(EventKind::thread_begin, thread, operands);
  }
  ASSERT_TRUE((*writer)->add_events(encoder).ok() && (*writer)->add_threads(rows).ok() && (*writer)->finish({}).ok());
  ASSERT_TRUE(base::write_file(file, std::span<const uint8_t>(bytes)).ok());
  const base::Result<Trace> loaded = load_any(file);
  ASSERT_TRUE(loaded.ok()) << loaded.error().message;
  EXPECT_EQ(loaded->threads.size(), rows.size());
  EXPECT_EQ(loaded->thread_ranges.back().size(), 1u);
  EXPECT_EQ(loaded->time_ns[loaded->thread_ranges.back().begin], int64_t{kRowsLostMax} + 99);
}

TEST_F(LoadSave, LongTextsAreBoundedTogether) {
  const std::string file = path("texts.cft");
  auto writer = format::Writer::create(*format::open_file_sink(file));
  const std::string long_text(1 << 20, 'x');
  const std::vector<std::string_view> rows(64, long_text);
  ASSERT_TRUE((*writer)->add_strings(rows).ok() && (*writer)->finish({}).ok());
  const base::Result<Trace> loaded = load_any(file);
  ASSERT_TRUE(loaded.ok());
  size_t kept_bytes = 0;
  for (const std::string& text : loaded->strings) kept_bytes += text.size();
  EXPECT_EQ(loaded->strings.size(), 64u);
  EXPECT_EQ(loaded->strings[0], long_text);
  EXPECT_LT(kept_bytes, size_t{18} << 20);
  EXPECT_THAT(loaded->loss.notes, Contains(HasSubstr("long texts were cut")));
}

TEST_F(LoadSave, AnAccessSetThatIsNoRowBecomesNone) {
  TraceBuilder builder;
  const ThreadId thread = builder.add_thread("main");
  builder.add(thread, EventKind::accesses, 1, {7, 0, 0, 0});
  base::Result<Trace> trace = builder.build();
  ASSERT_TRUE(trace.ok()) << trace.error().message;
  EXPECT_EQ(trace->a[0], UINT32_MAX);
  EXPECT_THAT(trace->loss.notes, Contains(HasSubstr("1 reference")));
}

TEST_F(LoadSave, TextIsKnownByItsContent) {
  const std::string file = path("a.trace");
  ASSERT_TRUE(base::write_file(file, kProgram).ok());
  base::Result<Trace> loaded = load_any(file);
  ASSERT_TRUE(loaded.ok()) << loaded.error().message;
  EXPECT_EQ(loaded->tasks.size(), 3u);
}

TEST_F(LoadSave, ACutOffFileLoadsAndSaysSo) {
  base::Result<Trace> trace = parse_text(kProgram);
  const std::string file = path("a.cft");
  ASSERT_TRUE(save(*trace, file).ok());
  std::filesystem::resize_file(file, std::filesystem::file_size(file) - 10);
  base::Result<Trace> loaded = load_any(file);
  ASSERT_TRUE(loaded.ok()) << loaded.error().message;
  EXPECT_TRUE(loaded->loss.cut_off);
  EXPECT_TRUE(loaded->loss.any());
  EXPECT_EQ(loaded->event_count(), trace->event_count());
}

// The thread left its first carrier at 20 and came back; the carriers' buffers were written one after the other.
TEST_F(LoadSave, EventsOfAVirtualThreadAreInOrderWhateverCarriedThem) {
  const std::string file = path("virtual.cft");
  auto sink = format::open_file_sink(file);
  ASSERT_TRUE(sink.ok());
  auto writer = format::Writer::create(std::move(*sink));
  ASSERT_TRUE(writer.ok());
  const format::ThreadRow row{.kind = format::ThreadKind::virtual_thread};
  ASSERT_TRUE((*writer)->add_threads({&row, 1}).ok());
  format::EventEncoder encoder;
  encoder.begin_run(ThreadId(0));
  auto append = [&](EventKind kind, int64_t time_ns) {
    const uint32_t operands[format::kOperandsMax] = {1, UINT32_MAX};
    encoder.append(kind, time_ns, operands);
  };
  append(EventKind::thread_begin, 10);
  append(EventKind::block_begin, 20);
  append(EventKind::wait_end, 50);
  append(EventKind::thread_end, 60);
  append(EventKind::block_end, 30);
  append(EventKind::wait_begin, 40);
  ASSERT_TRUE((*writer)->add_events(encoder).ok());
  ASSERT_TRUE((*writer)->finish({}).ok());
  base::Result<Trace> loaded = load_any(file);
  ASSERT_TRUE(loaded.ok()) << loaded.error().message;
  EXPECT_THAT(loaded->time_ns, testing::ElementsAre(10, 20, 30, 40, 50, 60));
  EXPECT_THAT(loaded->loss.notes, testing::IsEmpty());
}

// The same random events into a file and into a builder, thread by thread. A tidy one closes what it opens, in order,
// except what is open when a thread ends; another may do anything.
class RandomEvents {
 public:
  RandomEvents(const std::string& file, uint32_t seed, bool tidy)
      : random_(seed), tidy_(tidy), writer_(*format::Writer::create(*format::open_file_sink(file))) {
    // Task ids without holes, with holes, or far beyond what their number accounts for.
    spread_ = std::array{1u, 3u, 150'000'000u}[seed % 3];
    const std::vector<std::string_view> strings{"thread", "pool"};
    const std::vector<format::ThreadRow> threads(kThreads, {.name = StringId(0)});
    const std::vector<format::PoolRow> pools(kPools, {.name = StringId(1)});
    EXPECT_TRUE(writer_->add_strings(strings).ok() && writer_->add_threads(threads).ok());
    EXPECT_TRUE(writer_->add_pools(pools).ok());
    for (uint32_t i = 0; i < kThreads; ++i) builder_.add_thread("thread");
    for (uint32_t i = 0; i < kPools; ++i) builder_.add_pool("pool", format::PoolKind::other, 0, 0);
    for (uint32_t i = 0; i < kTasks; ++i) builder_.add_task();
  }

  base::Result<Trace> build() {
    for (uint32_t thread = 0; thread < kThreads; ++thread) add_thread(thread);
    EXPECT_TRUE(writer_->add_events(encoder_).ok() && writer_->finish({}).ok());
    return builder_.build();
  }

 private:
  static constexpr uint32_t kThreads = 4, kTasks = 20, kPools = 2;
  uint32_t below(uint32_t n) { return static_cast<uint32_t>(random_() % n); }

  void add_thread(uint32_t thread) {
    now_ns_ = 1000;
    open_.clear();
    for (uint32_t task = 0; thread == 0 && task < kTasks; ++task) {
      put(thread, EventKind::task_create, {task, UINT32_MAX, UINT32_MAX});
    }
    for (uint32_t i = below(60); i > 0; --i) add_event(thread);
    if (below(2) == 0) put(thread, EventKind::thread_end, {});
  }

  void add_event(uint32_t thread) {
    auto kind = static_cast<EventKind>(below(static_cast<uint32_t>(EventKind::pause_begin)));
    uint32_t a = below(2);
    if (names_task(kind)) a = kTasks / kThreads * thread + below(kTasks / kThreads);
    if (tidy_) {
      // A new worker is busy without having been idle.
      const bool new_worker = kind == EventKind::worker_busy && open_.empty() && idle_ != thread;
      if (kind == EventKind::thread_begin || kind == EventKind::thread_end) return;
      if (kind == EventKind::task_start && started_[a]) return;
      if (closes(kind) && !new_worker) {
        if (open_.empty()) return;
        std::tie(kind, a) = std::pair(closer_of(open_.back().first), open_.back().second);
      }
      if (kind == EventKind::task_start) started_[a] = true;
      if (kind == EventKind::worker_idle || kind == EventKind::worker_busy) idle_ = thread;
    } else if (names_task(kind) && below(30) == 0) {
      a = UINT32_MAX;
    }
    if (closes(kind) && !open_.empty()) open_.pop_back();
    if (opens(kind)) open_.emplace_back(kind, a);
    const bool depends = kind == EventKind::task_depends;
    put(thread, kind, {a, depends ? below(kTasks) : below(2), depends ? below(2) : below(3), UINT32_MAX});
  }

  void put(uint32_t thread, EventKind kind, std::array<uint32_t, format::kOperandsMax> operands) {
    now_ns_ += below(20) - (!tidy_ && below(50) == 0 ? 15 : 0);
    builder_.add(ThreadId(thread), kind, now_ns_, operands);
    for (size_t k = 0; k < operands.size(); ++k) {
      const format::Operand operand = format::schema_of(kind).operands[k];
      const bool task = operand == format::Operand::task || operand == format::Operand::source;
      if (task && operands[k] != UINT32_MAX) operands[k] *= spread_;
    }
    encoder_.begin_run(ThreadId(thread));
    encoder_.append(kind, now_ns_, operands.data());
    if (below(40) == 0) {
      EXPECT_TRUE(writer_->add_events(encoder_).ok());
    }
  }

  std::mt19937 random_;
  bool tidy_;
  uint32_t spread_;
  std::unique_ptr<format::Writer> writer_;
  format::EventEncoder encoder_;
  TraceBuilder builder_;
  int64_t now_ns_ = 0;
  std::array<bool, kTasks> started_{};
  uint32_t idle_ = UINT32_MAX;  // the last thread that was idle or busy
  std::vector<std::pair<EventKind, uint32_t>> open_;
};

// What is loaded is what the builder makes, though the loader leaves room for closings, renumbers tasks and places
// events before it knows the others.
TEST_F(LoadSave, RandomEventsLoadAsTheBuilderTakesThem) {
  for (uint32_t seed = 0; seed < 200; ++seed) {
    const bool tidy = seed % 2 == 0;
    const std::string file = path("random.cft");
    const base::Result<Trace> built = RandomEvents(file, seed, tidy).build();
    const base::Result<Trace> loaded = load_any(file);
    ASSERT_TRUE(loaded.ok() && built.ok()) << seed;
    ASSERT_EQ(print_text(*loaded), print_text(*built)) << seed;
    EXPECT_EQ(loaded->loss.notes, built->loss.notes) << seed;
    EXPECT_TRUE(verify(*loaded).ok()) << seed << ": " << verify(*loaded).error().message;
    for (size_t i = 0; i < loaded->tasks.size(); ++i) {
      EXPECT_EQ(loaded->tasks[i].end, built->tasks[i].end) << seed;
      EXPECT_EQ(loaded->tasks[i].truncated, built->tasks[i].truncated) << seed;
    }
    if (tidy) {
      EXPECT_THAT(loaded->loss.notes, Not(Contains(HasSubstr("left out")))) << seed;
    }
  }
}

TEST_F(LoadSave, ErrorsNameThePath) {
  EXPECT_THAT(load_any(path("none.cft")).error().message, HasSubstr("none.cft"));
  ASSERT_TRUE(base::write_file(path("bad.txt"), std::string_view("0 nobody thread_begin\n")).ok());
  EXPECT_THAT(load_any(path("bad.txt")).error().message, HasSubstr("bad.txt: line 1: no thread \"nobody\""));
  base::Result<Trace> trace = parse_text(kProgram);
  EXPECT_THAT(save(*trace, path("no/such/folder/x.cft")).error().message, HasSubstr("no/such/folder/x.cft"));
}

}  // namespace
}  // namespace contrafact::model
