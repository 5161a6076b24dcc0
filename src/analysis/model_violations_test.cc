#include "analysis/model_violations.h"

#include <gmock/gmock.h>

#include "analysis/text_trace_for_test.h"

namespace contrafact::analysis {
namespace {

using model::TaskId;
using testing::HasSubstr;

// t1 takes from a queue that t2 fills; t1 also waits for a future, sleeps, and contends for a monitor.
constexpr std::string_view kEvents = R"(
0 main task_spawn t1 c1 p m2
0 main task_spawn t2 c1 p m3
0 w1 task_start t1
10 w1 block_begin park c2
0 w2 task_start t2
50 w2 wake w1
60 w1 block_end park
60 w1 wait_begin t2 c3
90 w2 task_end t2
95 w1 wait_end t2
100 w1 block_begin sleep c3
120 w1 block_end sleep
130 w1 block_begin monitor c2
140 w1 block_end monitor
150 w1 task_end t1
)";

TEST(ModelViolations, AQueueThatAnotherTaskFeeds) {
  const model::Trace trace = parsed_with_rows(kEvents);
  const BlockIndex index(trace);
  const std::vector<TaskId> tasks{TaskId(0)};
  const std::vector<Violation> found = model_violations(index, tasks);
  ASSERT_EQ(found.size(), 3u);
  EXPECT_EQ(found[0].kind, ViolationKind::fed_by_task);
  EXPECT_TRUE(found[0].serious);
  EXPECT_FALSE(found[0].waker_in_set);
  EXPECT_EQ(found[0].blocked_ns, 50);
  EXPECT_EQ(found[0].message,
            "blocks at Job.run (Job.java:9) until it is woken by a task that runs Other.run (Other.java:1), spawned at "
            "Main.main "
            "(Main.java:7)");
  EXPECT_EQ(found[1].kind, ViolationKind::sleeps);
  EXPECT_EQ(found[1].blocked_ns, 20);
  EXPECT_FALSE(found[1].serious);
  EXPECT_EQ(found[2].kind, ViolationKind::lock_contended);
}

TEST(ModelViolations, AWakerOfTheSameSet) {
  const model::Trace trace = parsed_with_rows(kEvents);
  const std::vector<TaskId> tasks{TaskId(0), TaskId(1)};
  const std::vector<Violation> found = model_violations(BlockIndex(trace), tasks);
  ASSERT_FALSE(found.empty());
  EXPECT_TRUE(found[0].waker_in_set);
  EXPECT_THAT(found[0].message, HasSubstr("for ever"));
}

TEST(ModelViolations, WaitsForFuturesAreTheModel) {
  const model::Trace trace = parsed_with_rows(R"(
0 main task_spawn t1 c1 p m2
0 main task_spawn t2 c1 p m3
0 w1 task_start t1
10 w1 wait_begin t2 c2
0 w2 task_start t2
50 w2 task_complete t2
50 w2 wake w1
60 w2 task_end t2
60 w1 wait_end t2
70 w1 task_end t1
)");
  const std::vector<TaskId> tasks{TaskId(0), TaskId(1)};
  EXPECT_THAT(model_violations(BlockIndex(trace), tasks), testing::IsEmpty());
}

TEST(ModelViolations, WakersOutsideTasksAndUnknownOnes) {
  const model::Trace trace = parsed_with_rows(R"(
0 main task_spawn t1 c1 p m2
0 w1 task_start t1
10 w1 block_begin park c2
40 main wake w1
50 w1 block_end park
60 w1 block_begin object_wait c3
90 w1 block_end object_wait
91 w1 block_begin object_wait c3
95 w1 block_end object_wait
99 w1 task_end t1
)");
  const std::vector<TaskId> tasks{TaskId(0)};
  const std::vector<Violation> found = model_violations(BlockIndex(trace), tasks);
  ASSERT_EQ(found.size(), 2u);
  EXPECT_EQ(found[0].kind, ViolationKind::fed_by_thread);
  EXPECT_EQ(found[1].kind, ViolationKind::parked);
  EXPECT_EQ(found[1].count, 2u);
  EXPECT_EQ(found[1].tasks, 1u);
  EXPECT_EQ(found[1].blocked_ns, 34);
}

// A lock of java.util.concurrent is known by its frames, where they were recorded.
TEST(ModelViolations, LocksAreTimingOnly) {
  const model::Trace trace = parsed(std::string(kRows) + R"(
method lock java.util.concurrent.locks.ReentrantLock.lock
method acquire java.util.concurrent.locks.AbstractQueuedSynchronizer.acquire
context c5 c2 lock:10
context c6 c5 acquire:20
0 main task_spawn t1 c1 p m2
0 main task_spawn t2 c1 p m3
0 w1 task_start t1
10 w1 block_begin park c6
0 w2 task_start t2
50 w2 wake w1
50 w1 block_end park
60 w2 task_end t2
60 w1 task_end t1
)");
  const std::vector<TaskId> tasks{TaskId(0)};
  const std::vector<Violation> found = model_violations(BlockIndex(trace), tasks);
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].kind, ViolationKind::lock_contended);
  EXPECT_FALSE(found[0].serious);
}

// With the lock known, the model knows it; a queue of which the recording says what it is stays a warning. The last block
// is for a lock of a class of its own, whose frames say nothing.
TEST(ModelViolations, LocksThatTheTraceNamesAreNone) {
  const model::Trace trace = parsed(std::string(kRows) + R"(
lock l1 monitor shop.Table.lock
lock l2 condition shop.Queue.notEmpty
lock l3 mutex shop.Latch
0 main task_spawn t1 c1 p m2
0 main task_spawn t2 c1 p m3
0 w1 task_start t1
0 w2 task_start t2
10 w1 block_begin monitor c2
10 w1 blocked_on l1 w2
20 w2 wake w1
20 w1 block_end monitor
30 w1 block_begin park c3
30 w1 blocked_on l2
50 w2 wake w1
50 w1 block_end park
60 w1 block_begin park c3
60 w1 blocked_on l3 w2
65 w2 wake w1
65 w1 block_end park
70 w1 block_begin monitor c2
75 w1 block_end monitor
80 w1 task_end t1
90 w2 task_end t2
)");
  const std::vector<TaskId> tasks{TaskId(0)};
  const BlockIndex index(trace);
  const std::vector<Violation> found = model_violations(index, tasks);
  ASSERT_EQ(found.size(), 2u);
  EXPECT_EQ(found[0].kind, ViolationKind::fed_by_task);
  EXPECT_EQ(found[0].count, 1u);
  EXPECT_EQ(found[1].kind, ViolationKind::lock_contended);
  EXPECT_EQ(found[1].blocked_ns, 5);
  EXPECT_EQ(named_lock_waits_ns(index, tasks), 15);
}

// t1 is waited for with a time-out, t2 is under a limit, t3 fails under its waiter; t4 is waited for as usual.
// Both by one line, whichever of the map's own lines called it.
TEST(ModelViolations, WhatAMapCallsUnderItsLock) {
  const model::Trace trace = parsed_with_rows(R"(
method update java.util.concurrent.ConcurrentHashMap.computeIfAbsent ConcurrentHashMap.java:1690
method street shop.Homes.street Homes.java:40
context c5 c1 update:1708
context c6 c5 street:46
context c7 c1 update:1740
context c8 c7 street:46
0 main task_spawn t1 c6 p m2
0 main task_spawn t2 c8 p m2
0 main task_spawn t3 c1 p m2
0 w1 task_start t1
10 w1 task_end t1
10 w1 task_start t2
20 w1 task_end t2
20 w1 task_start t3
30 w1 task_end t3
)");
  const std::vector<TaskId> all{TaskId(0), TaskId(1), TaskId(2)};
  const std::vector<Violation> found = model_violations(BlockIndex(trace), all);
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].kind, ViolationKind::in_map_update);
  EXPECT_EQ(found[0].tasks, 2u);
  EXPECT_TRUE(found[0].serious);
  EXPECT_THAT(found[0].message,
              HasSubstr("handed out at Homes.street (Homes.java:46) by what a ConcurrentHashMap calls"));
}

TEST(ModelViolations, WhatIsAskedOfAResultBesidesIt) {
  const model::Trace trace = parsed_with_rows(R"(
fact method.timed.4 yes
method get java.util.concurrent.FutureTask.get FutureTask.java:188
method timed java.util.concurrent.FutureTask.get FutureTask.java:199
method limit java.util.concurrent.CompletableFuture.orTimeout CompletableFuture.java:2704
context c5 c1 get:190
context c6 c1 timed:202
context c7 c1 limit:2707
0 main task_spawn t1 c1 p m2
0 main task_spawn t2 c1 p m2
0 main task_create s2 c7 m3
0 main task_depends s2 t2
0 main task_spawn t3 c1 p m2
0 main task_spawn t4 c1 p m2
0 w1 task_start t1
10 w1 task_end t1
10 w1 task_start t2
20 w1 task_end t2
20 w1 task_start t3
30 w1 task_end t3 exception
30 w1 task_start t4
40 w1 task_end t4
0 main wait_begin t1 c6
10 main wait_end t1
10 main wait_begin t2 c5
20 main wait_end t2
20 main wait_begin t3 c5
30 main wait_end t3 exception
30 main wait_begin t4 c5
40 main wait_end t4
)");
  const BlockIndex index(trace);
  const std::vector<ResultContract> contracts = result_contracts(trace);
  ASSERT_EQ(contracts.size(), trace.tasks.size());
  size_t timed = 0, limited = 0, failed = 0;
  for (const ResultContract& contract : contracts) {
    timed += contract.timed_get.valid();
    limited += contract.time_limit.valid();
    failed += contract.failure.valid();
  }
  EXPECT_EQ(timed, 1u);
  EXPECT_EQ(limited, 1u);
  EXPECT_EQ(failed, 1u);
  std::vector<TaskId> tasks;
  for (uint32_t i = 0; i < trace.tasks.size(); ++i) tasks.emplace_back(i);
  std::string messages;
  for (const Violation& violation : model_violations(index, tasks)) {
    EXPECT_TRUE(violation.serious);
    EXPECT_EQ(violation.count, 1u);
    messages += violation.message + "\n";
  }
  EXPECT_THAT(messages, HasSubstr("waited for at Main.main (Main.java:7) with a time-out"));
  EXPECT_THAT(messages, HasSubstr("under the time limit set at Main.main (Main.java:7)"));
  EXPECT_THAT(messages, HasSubstr("the cause of an ExecutionException"));
}

// On any JDK, and where the method that waits is not the one that the program called.
TEST(ModelViolations, AWaitBelowAMethodWithATimeLimit) {
  const auto is_timed = [&](std::string_view fact) {
    return !result_contracts(parsed_with_rows(std::string(fact) + R"(
method get java.util.concurrent.ForkJoinTask.get ForkJoinTask.java:1001
method await java.util.concurrent.ForkJoinTask.awaitDone ForkJoinTask.java:300
context c5 c1 get:1010
context c6 c5 await:340
0 main task_spawn t1 c1 p m2
0 w1 task_start t1
10 w1 task_end t1
0 main wait_begin t1 c6
10 main wait_end t1
)"))
                .empty();
  };
  EXPECT_TRUE(is_timed("fact method.timed.3 yes"));
  EXPECT_FALSE(is_timed(""));
  EXPECT_FALSE(is_timed("fact method.timed.0 yes"));  // the program's own
  EXPECT_FALSE(is_timed("fact method.timed.4000000000 yes"));
}

}  // namespace
}  // namespace contrafact::analysis
