#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdio>
#include <filesystem>

#include "base/file.h"
#include "format/writer.h"
#include "model/load.h"
#include "model/save.h"
#include "model/text_trace.h"

namespace contrafact::model {
namespace {

using ::testing::HasSubstr;

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

TEST_F(LoadSave, ErrorsNameThePath) {
  EXPECT_THAT(load_any(path("none.cft")).error().message, HasSubstr("none.cft"));
  ASSERT_TRUE(base::write_file(path("bad.txt"), std::string_view("0 nobody thread_begin\n")).ok());
  EXPECT_THAT(load_any(path("bad.txt")).error().message, HasSubstr("bad.txt: line 1: no thread \"nobody\""));
  base::Result<Trace> trace = parse_text(kProgram);
  EXPECT_THAT(save(*trace, path("no/such/folder/x.cft")).error().message, HasSubstr("no/such/folder/x.cft"));
}

}  // namespace
}  // namespace contrafact::model
