#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "model/library_calls.h"
#include "model/text_trace.h"
#include "model/time_window.h"
#include "model/trace_builder.h"

namespace contrafact::model {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr std::string_view kInlineProgram = R"(# the paper's figure 2
fact cores 2
thread main
thread w1 "worker 1" daemon
pool p1 thread_pool 1 1 "queries"
method m1 AgeQuerier.queryAge AgeQuerier.java:10
method m2 AgeQuerier.lambda$queryDatabase$0 AgeQuerier.java:5
context c1 - m1:11
0 main thread_begin
0 w1 thread_begin
0 w1 worker_idle p1
10 main task_spawn t1 c1 p1 m2
12 main wait_begin t1 c1
14 w1 worker_busy p1 1
15 w1 task_start t1
75 w1 task_complete t1
76 w1 task_end t1
77 w1 worker_idle p1
78 main wait_end t1
90 main thread_end
)";

Trace parsed(std::string_view text) {
  base::Result<Trace> trace = parse_text(text);
  EXPECT_TRUE(trace.ok()) << trace.error().message;
  return trace.ok() ? *std::move(trace) : Trace{};
}

TEST(TextTrace, DerivesTheTaskRow) {
  Trace trace = parsed(kInlineProgram);
  ASSERT_EQ(trace.tasks.size(), 1u);
  const TaskRow& row = trace.tasks[0];
  EXPECT_EQ(row.kind, TaskKind::pooled);
  EXPECT_EQ(trace.time_ns[row.spawn.index()], 10);
  EXPECT_EQ(trace.time_ns[row.start.index()], 15);
  EXPECT_EQ(trace.time_ns[row.complete.index()], 75);
  EXPECT_EQ(trace.time_ns[row.end.index()], 76);
  EXPECT_EQ(trace.method_label(row.body), "AgeQuerier.lambda$queryDatabase$0 (AgeQuerier.java:5)");
  EXPECT_EQ(trace.context_label(row.create_context), "AgeQuerier.queryAge (AgeQuerier.java:11)");
  EXPECT_EQ(trace.thread_of(row.start), ThreadId(1));
  EXPECT_EQ(trace.end_ns(), 90);
  EXPECT_EQ(trace.fact("cores"), "2");
  EXPECT_FALSE(trace.loss.any());
}

TEST(TextTrace, PrintingIsStable) {
  std::string once = print_text(parsed(kInlineProgram));
  EXPECT_EQ(print_text(parsed(once)), once);
  EXPECT_THAT(once, HasSubstr("10 main task_spawn t1 c1 p1 m2"));
  EXPECT_THAT(once, HasSubstr("thread thread2 \"worker 1\" daemon"));
}

TEST(TextTrace, AnyNameIsReadBackAsItWas) {
  std::string all;
  for (int byte = 1; byte < 256; ++byte) all += static_cast<char>(byte);
  const std::string names[] = {all,
                               "\xe2\x80\xae"
                               "abc",
                               "\\x41",
                               "\\",
                               "\"",
                               "#",
                               "a b\r\n",
                               "gr\xc3\xbcn",
                               "\xe0\x80\x9b",
                               ""};
  for (const std::string& name : names) {
    TraceBuilder builder;
    builder.add_thread(name, {});
    builder.add_fact("key" + name, name);
    builder.add_lock(name, format::LockKind::mutex);
    builder.add_method("c" + name, "m", "f" + name, 7);
    builder.loss().notes.push_back(name);
    const Trace trace = *builder.build();
    const std::string text = print_text(trace);
    for (const char c : text) EXPECT_TRUE(c == '\n' || (c >= ' ' && c != 0x7f) || c < 0) << static_cast<int>(c);
    EXPECT_EQ(text.find("\xe2\x80\xae"), std::string::npos);
    const Trace back = parsed(text);
    EXPECT_EQ(back.string(back.threads[0].name), name);
    EXPECT_EQ(back.fact("key" + name), name);
    if (!name.empty()) {
      EXPECT_EQ(back.string(back.locks[0].name), name);
    }
    EXPECT_EQ(back.string(back.methods[0].file), "f" + name);
    EXPECT_EQ(back.loss.notes, trace.loss.notes);
  }
}

TEST(TextTrace, ErrorsSayLineAndWhat) {
  EXPECT_EQ(parse_text("thread main\n5 other thread_begin\n").error().message, "line 2: no thread \"other\"");
  EXPECT_EQ(parse_text("thread main\n5 main task_begin t1\n").error().message, "line 2: \"task_begin\" is no event");
  EXPECT_EQ(parse_text("thread main\nx main\n").error().message,
            "line 2: \"x\" begins no row with 2 words, and is no time");
  EXPECT_EQ(parse_text("thread \"main\n").error().message, "line 1: a quoted word is not closed");
  EXPECT_EQ(parse_text("thread m\n0 m task_spawn t1 c9\n").error().message, "line 2: no context \"c9\"");
  EXPECT_EQ(parse_text("connection n1 listening\n").error().message, "line 1: \"listening\" is no kind of connection");
  EXPECT_EQ(parse_text("connection n1 other 8080\n").error().message,
            "line 1: connection needs a key, a kind, and perhaps two ports");
  EXPECT_EQ(parse_text("connection n1 other 80 -1\n").error().message, "line 1: a connection's port is no number");
  EXPECT_EQ(parse_text("endpoint e1\n").error().message, "line 1: endpoint needs a key and a name");
  EXPECT_EQ(parse_text("endpoint e1 x\nthread m\n0 m endpoint e1 luck\n").error().message,
            "line 3: \"luck\" is no way to name an endpoint");
  EXPECT_EQ(parse_text("thread m\n0 m receive n1 5\n").error().message, "line 2: no connection \"n1\"");
}

TEST(Repair, ATaskThatBeganBeforeTheRecordingGetsAStart) {
  Trace trace =
      parsed("thread w\n0 w thread_begin\n5 w task_start t2\n6 w task_end t2\n9 w task_end t1\n12 w task_end t3\n");
  EXPECT_TRUE(trace.tasks[0].truncated);
  EXPECT_TRUE(trace.tasks[2].truncated);
  EXPECT_EQ(trace.time_ns[trace.tasks[0].start.index()], 9);
  EXPECT_THAT(trace.loss.notes, ElementsAre("2 tasks had started before the recording began"));
  EXPECT_TRUE(verify(trace).ok());
}

TEST(Repair, WhatIsOpenAtTheEndIsClosedThere) {
  Trace trace = parsed(
      "thread a\nthread b\npool p thread_pool 1\n0 b task_spawn t1 - p\n1 a task_start t1\n2 a wait_begin t2\n"
      "3 b worker_idle p\n9 b wait_begin t1\n");
  EXPECT_EQ(trace.time_ns[trace.tasks[0].end.index()], 9);
  EXPECT_TRUE(trace.tasks[0].truncated);
  EXPECT_THAT(trace.loss.notes,
              ElementsAre("1 task had not ended when the recording did", "2 waits or calls have no recorded end"));
  EXPECT_TRUE(verify(trace).ok());
}

TEST(Repair, UnmatchedEventsAreLeftOut) {
  Trace trace = parsed(
      "thread a\nthread b\n1 a task_start t1\n2 a wait_end t2\n3 a task_end t1\n4 b task_start t1\n5 b task_end t1\n"
      "7 b task_spawn -\n6 b wait_begin t1\n6 b wait_end t1\n");
  EXPECT_EQ(trace.event_count(), 4u);
  EXPECT_THAT(trace.loss.notes, ElementsAre("3 events that match no other were left out",
                                            "2 events had times before their predecessor's"));
}

TEST(Repair, AnInnerCallThatNeverReturnedIsClosedByTheOuterOne) {
  Trace trace =
      parsed("thread a\nmethod m x.Y.z\nmethod n x.Y.n\n1 a method_enter m\n2 a method_enter n\n3 a method_exit m\n");
  EXPECT_EQ(trace.event_count(), 4u);
  EXPECT_EQ(trace.time_ns[2], 3);
  EXPECT_TRUE(verify(trace).ok());
}

TEST(Repair, WhatIsOpenAtTheEndIsNotClosedBeforeTimesThatWereRaised) {
  TraceBuilder builder;
  const ThreadId thread = builder.add_thread("main");
  builder.add(thread, EventKind::pool_size, 100, {UINT32_MAX, 1});
  builder.add(thread, EventKind::wait_begin, 50, {UINT32_MAX, UINT32_MAX});
  base::Result<Trace> trace = builder.build();
  ASSERT_TRUE(trace.ok()) << trace.error().message;
  EXPECT_THAT(trace->time_ns, ElementsAre(100, 100, 100));
}

TEST(Verify, SaysWhichInvariantAndWhere) {
  Trace trace = parsed(kInlineProgram);
  Trace shuffled = trace;
  shuffled.time_ns[1] = -1;
  EXPECT_THAT(verify(shuffled).error().message, HasSubstr("time goes backwards"));
  Trace unclosed = trace;
  unclosed.kind[trace.tasks[0].end.index()] = EventKind::task_complete;
  EXPECT_FALSE(verify(unclosed).ok());
}

TEST(TraceBuilder, KeepsCpuAndPausesBesideTheEvents) {
  Trace trace = parsed("thread a\npause 5 8\nvm_ran -2000 7\ncpu a 1 3 preempted\n0 a thread_begin\n9 a thread_end\n");
  EXPECT_EQ(trace.event_count(), 2u);
  ASSERT_EQ(trace.cpu[0].size(), 1u);
  EXPECT_TRUE(trace.cpu[0][0].preempted);
  ASSERT_EQ(trace.pauses.size(), 1u);
  EXPECT_EQ(trace.pauses[0].end_ns, 8);
  ASSERT_EQ(trace.vm_stints.size(), 1u);
  EXPECT_EQ(trace.vm_stints[0].begin_ns, -1993) << "whole microseconds";
  EXPECT_EQ(trace.vm_stints[0].end_ns, 7);
  std::string once = print_text(trace);
  EXPECT_EQ(print_text(parsed(once)), once);
}

TEST(LibraryCalls, AreToldByTheirFrames) {
  Trace trace = parsed(R"(thread main
method m1 shop.Main.main Main.java:10
method m2 java.util.concurrent.ThreadPoolExecutor.execute ThreadPoolExecutor.java:1329
method m3 java.util.concurrent.locks.ReentrantLock.lock ReentrantLock.java:322
method m4 java.util.concurrent.ThreadPoolExecutor$Worker.run ThreadPoolExecutor.java:635
context c1 - m1:11
context c2 c1 m2:1350
context c3 c2 m3:322
0 main task_spawn t1 c2 - m4
1 main task_spawn t2 c1 - m1
2 main thread_end
)");
  const ContextId main(0), execute(1), lock(2);
  EXPECT_EQ(trace.program_frame(lock), main);
  EXPECT_EQ(trace.context_label(execute), "Main.main (Main.java:11)");
  EXPECT_TRUE(is_lock_call(trace, lock));
  EXPECT_FALSE(is_lock_call(trace, execute));
  EXPECT_TRUE(is_worker_run(trace, trace.tasks[0]));
  EXPECT_FALSE(is_worker_run(trace, trace.tasks[1]));
}

TEST(LibraryCalls, ABoundedPoolIsAskedByItsOwnMethod) {
  const Trace trace = parsed(R"(thread main
method m1 shop.Orders.load Orders.java:10
method m2 com.zaxxer.hikari.pool.HikariPool.getConnection HikariPool.java:174
method m3 com.zaxxer.hikari.util.ConcurrentBag.borrow ConcurrentBag.java:151
method m4 com.zaxxer.hikari.util.ConcurrentBag.requite ConcurrentBag.java:170
method m5 java.lang.Thread.sleep Thread.java:450
context c1 - m1:11
context c2 c1 m2:180
context c3 c2 m3:152
context c4 c3 m5:450
context c5 c2 m4:171
0 main thread_begin
)");
  EXPECT_TRUE(is_resource_call(trace, ContextId(3)));
  EXPECT_TRUE(is_permit_call(trace, ContextId(2)));
  for (const uint32_t other : {0u, 1u, 4u}) EXPECT_FALSE(is_resource_call(trace, ContextId(other))) << other;
  EXPECT_FALSE(is_queue_call(trace, ContextId(2)));
}

TEST(LibraryCalls, AConfiguredPoolIsAskedByTheMethodThatAFactNames) {
  const Trace trace = parsed(R"(fact resource.taking.0 shop.Pool.acquire
thread main
method m1 shop.Orders.load Orders.java:10
method m2 shop.Pool.acquire Pool.java:20
method m3 java.lang.Object.wait Object.java:338
method m4 shop.Pool.acquired Pool.java:40
context c1 - m1:11
context c2 c1 m2:21
context c3 c2 m3:338
context c4 c1 m4:41
0 main thread_begin
)");
  EXPECT_TRUE(is_resource_call(trace, ContextId(2)));
  for (const uint32_t other : {0u, 3u}) EXPECT_FALSE(is_resource_call(trace, ContextId(other))) << other;
}

TEST(Pools, OneThatAFactNamesIsNoResource) {
  const Trace trace = parsed(R"(fact resource.none.0 1
fact resource.none.7 1
thread main
pool p1 permits 4 4 queue
pool p2 permits 4 4 other
0 main thread_begin
)");
  ASSERT_EQ(trace.pools.size(), 2u);
  EXPECT_EQ(trace.pools[0].kind, format::PoolKind::other);
  EXPECT_EQ(trace.pools[1].kind, format::PoolKind::permits);
}

// Differences and sums of the times that are left cannot overflow.
TEST(Times, FarFromTheFirstOneAreNotBelieved) {
  const Trace trace = parsed(R"(thread main
thread w1
cpu w1 -9223372036854775808 9223372036854775807 blocked
pause -9223372036854775808 9223372036854775807
vm_ran -9223372036854775808 9223372036854775807
cores_idle 9223372036854775807 5000
1000 main thread_begin
2000 main thread_end
-9223372036854775808 w1 thread_begin
9223372036854775807 w1 thread_end
)");
  const int64_t low_ns = 1000 - kTimeSpanMax, high_ns = 1000 + kTimeSpanMax;
  EXPECT_EQ(trace.begin_ns(), low_ns);
  EXPECT_EQ(trace.end_ns(), high_ns);
  EXPECT_EQ(trace.cpu[1][0].out_ns, low_ns);
  EXPECT_EQ(trace.pauses[0].end_ns, high_ns);
  EXPECT_EQ(trace.vm_stints[0].end_ns, high_ns);
  EXPECT_EQ(trace.idle_times[0].until_ns, high_ns);
  EXPECT_THAT(trace.loss.notes, testing::Contains("2 events had times weeks away from the first one"));
}

TEST(Times, ARunOfThreeWeeksIsOne) {
  const Trace trace = parsed("thread main\n5 main thread_begin\n1814400000000000 main thread_end\n");
  EXPECT_EQ(trace.end_ns(), 1814400000000000);
  EXPECT_THAT(trace.loss.notes, testing::IsEmpty());
}

}  // namespace
}  // namespace contrafact::model
