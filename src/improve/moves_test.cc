#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fmt/format.h>

#include "improve/kinds/kinds.h"
#include "improve/move_change.h"
#include "improve/spec.h"
#include "model/text_trace.h"

namespace contrafact::improve {
namespace {

using model::Trace;
using ::testing::HasSubstr;
using ::testing::SizeIs;

Trace program_of(const std::string& text) {
  base::Result<Trace> trace = model::parse_text(text);
  EXPECT_TRUE(trace.ok()) << (trace.ok() ? "" : trace.error().message);
  return trace.ok() ? *std::move(trace) : Trace();
}

// Page.render, a task, hands out a task in line 11, waits for it, and hands out another one in line 12.
std::string two_in_turn(int64_t second_handed_out_at) {
  return fmt::format(R"(thread main
thread w
thread q
pool p thread_pool 1
pool o thread_pool 2
method m1 shop.Server.main Server.java:1
method m2 shop.Page.render Page.java:10
method m3 shop.Page.fetch Page.java:30
method m4 java.util.concurrent.AbstractExecutorService.submit AbstractExecutorService.java:1
context c1 - m1:3
context c2 c1 m2:11
context c3 c1 m2:12
context c4 c2 m4:123
context c5 c3 m4:123
0 main task_spawn t1 c1 p m2
0 w task_start t1
10 w task_spawn t2 c4 o m3
20 w wait_begin t2 c2
50 w wait_end t2
{0} w task_spawn t3 c5 o m3
70 w wait_begin t3 c3
90 w wait_end t3
95 w task_end t1
10 q task_start t2
50 q task_end t2
60 q task_start t3
90 q task_end t3
)",
                     second_handed_out_at);
}

TEST(WaitLater, AFunctionThatWaitsBeforeItHandsOutTheNextTask) {
  const Trace trace = program_of(two_in_turn(60));
  const std::vector<Candidate> found = move_candidates(trace);
  ASSERT_THAT(found, SizeIs(1));
  EXPECT_EQ(found[0].improvement.optimisation, kinds::wait_later);
  EXPECT_EQ(found[0].improvement.tasks, (std::vector<model::TaskId>{model::TaskId(1), model::TaskId(2)}));
  EXPECT_EQ(trace.context_label(found[0].improvement.spawn_context), "Page.render (Page.java:11)");

  const SpecTrace in{.trace = trace};
  const SpecEntry entry{found[0]};
  const SpecText text{.name = "", .json = write_spec(in, std::span(&entry, 1))};
  const base::Result<std::vector<Candidate>> read = read_specs(in, std::span(&text, 1));
  ASSERT_TRUE(read.ok()) << read.error().message;
  EXPECT_EQ(read->at(0).improvement.tasks, found[0].improvement.tasks);
}

TEST(WaitLater, WhoHandsOutAllFirstWaitsLateEnough) {
  std::string text = two_in_turn(15);
  // In the order of the thread's events.
  const size_t from = text.find("15 w task_spawn"), until = text.find('\n', from) + 1;
  const std::string line = text.substr(from, until - from);
  text.erase(from, until - from);
  text.insert(text.find("20 w wait_begin"), line);
  EXPECT_THAT(move_candidates(program_of(text)), SizeIs(0));
}

TEST(WaitLater, APlaceThatIsNotThereIsAnError) {
  const Trace trace = program_of(two_in_turn(60));
  const SpecText text{.name = "",
                      .json = R"({"schema": "contrafact-improvement-1", "improvements": [{"optimisation": "wait-later",
                                  "spawn": {"frames": [{"class": "shop.Page", "method": "render", "line": 99}]}}]})"};
  const base::Result<std::vector<Candidate>> read = read_specs({.trace = trace}, std::span(&text, 1));
  ASSERT_FALSE(read.ok());
  EXPECT_THAT(read.error().message, HasSubstr("wait-later: this recording has no such place"));
}

// A connection is out for 100 ns, the last 60 of them while a call at `last` blocks.
std::string connection_held(const std::string& pool_name, const std::string& last) {
  return fmt::format(R"(thread main
thread w
pool p thread_pool 1
pool s permits 2 2 "{}"
method m1 shop.Server.handle Server.java:1
method m2 shop.Shipping.ask Shipping.java:20
method m3 com.zaxxer.hikari.pool.ProxyStatement.executeQuery ProxyStatement.java:50
method m4 com.zaxxer.hikari.pool.ProxyConnection.close ProxyConnection.java:60
context c1 - m1:3
context c2 c1 m2:21
context c3 c1 m3:51
context c4 c1 m4:61
0 main task_spawn t1 c1 p m1
0 w task_start t1
10 w permit_take s 1
20 w block_begin io c3
40 w block_end io
50 w block_begin sleep {}
100 w block_end sleep
104 w block_begin io c4
106 w block_end io
110 w permit_give s 1
120 w task_end t1
)",
                     pool_name, last);
}

TEST(GiveBackEarly, BeforeTheLastCallThatIsNoUse) {
  const Trace trace = program_of(connection_held("com.zaxxer.hikari.pool.HikariPool HikariPool-1", "c2"));
  const std::vector<Candidate> found = move_candidates(trace);
  ASSERT_THAT(found, SizeIs(1));
  EXPECT_EQ(found[0].improvement.optimisation, kinds::give_back_early);
  EXPECT_EQ(trace.context_label(found[0].improvement.before), "Shipping.ask (Shipping.java:21)");
  ASSERT_THAT(found[0].improvement.earlier_gives, SizeIs(1));
  EXPECT_EQ(found[0].improvement.earlier_gives[0].number, 0u);
  EXPECT_EQ(found[0].improvement.earlier_gives[0].by_ns, 60);

  const SpecTrace in{.trace = trace};
  const SpecEntry entry{found[0]};
  const SpecText text{.name = "", .json = write_spec(in, std::span(&entry, 1))};
  const base::Result<std::vector<Candidate>> read = read_specs(in, std::span(&text, 1));
  ASSERT_TRUE(read.ok()) << read.error().message;
  EXPECT_EQ(read->at(0).improvement.before, found[0].improvement.before);
}

TEST(GiveBackEarly, NotWhereTheLastCallUsesIt) {
  EXPECT_THAT(move_candidates(program_of(connection_held("com.zaxxer.hikari.pool.HikariPool HikariPool-1", "c3"))),
              SizeIs(0));
}

TEST(GiveBackEarly, NotOfSemaphores) {
  EXPECT_THAT(move_candidates(program_of(connection_held("java.util.concurrent.Semaphore", "c2"))), SizeIs(0));
}

TEST(GiveBackEarly, NotOfPoolsOfTheProgramsOwn) {
  EXPECT_THAT(move_candidates(program_of(connection_held("shop.Pool", "c2"))), SizeIs(1));
  EXPECT_THAT(
      move_candidates(program_of("fact resource.taking.0 shop.Pool.acquire\n" + connection_held("shop.Pool", "c2"))),
      SizeIs(0));
}

// A lock is held for 100 ns, 80 of them in a call that blocks.
std::string lock_held(const std::string& reason, const std::string& kind = "monitor",
                      const std::string& acquire = "lock_acquire") {
  return fmt::format(R"(fact agent jvm
thread w
lock l {1} "shop.Cache"
method m1 shop.Cache.get Cache.java:9
method m2 shop.Shipping.ask Shipping.java:20
context c1 - m1:10
context c2 c1 m2:21
0 w {2} l c1
10 w block_begin {0} c2
90 w block_end {0}
100 w lock_release l
)",
                     reason, kind, acquire);
}

TEST(BlockOutside, SectionsThatBlockForMostOfTheirTime) {
  const Trace trace = program_of(lock_held("sleep"));
  const std::vector<Candidate> found = move_candidates(trace);
  ASSERT_THAT(found, SizeIs(1));
  EXPECT_EQ(found[0].improvement.optimisation, kinds::block_outside);
  EXPECT_EQ(found[0].improvement.sections, (std::vector<uint32_t>{0}));
  EXPECT_EQ(trace.context_label(found[0].improvement.before), "Shipping.ask (Shipping.java:21)");
  const SpecTrace in{.trace = trace};
  const SpecEntry entry{found[0]};
  const SpecText text{.name = "", .json = write_spec(in, std::span(&entry, 1))};
  const base::Result<std::vector<Candidate>> read = read_specs(in, std::span(&text, 1));
  ASSERT_TRUE(read.ok()) << read.error().message;
  EXPECT_EQ(read->at(0).improvement.sections, found[0].improvement.sections);
}

// A reader-writer lock that only writers take is a mutex.
TEST(BlockOutside, SectionsThatHoldAReaderWriterLockAlone) {
  EXPECT_THAT(move_candidates(program_of(lock_held("sleep", "rwlock"))), SizeIs(1));
  EXPECT_THAT(move_candidates(program_of(lock_held("sleep", "rwlock", "lock_acquire_shared"))), SizeIs(0));
}

TEST(BlockOutside, NotWhereTheyWaitForOtherThreads) {
  EXPECT_THAT(move_candidates(program_of(lock_held("park"))), SizeIs(0));
}

}  // namespace
}  // namespace contrafact::improve
