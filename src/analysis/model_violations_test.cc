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

}  // namespace
}  // namespace contrafact::analysis
