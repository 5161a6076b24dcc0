#include "analysis/task_classes.h"

#include <gmock/gmock.h>

#include "analysis/text_trace_for_test.h"

namespace contrafact::analysis {
namespace {

constexpr std::string_view kTwoClasses = R"(
cpu w1 120 150 preempted
cpu w1 300 800 blocked
cpu w2 450 550 blocked
0 main task_spawn t1 c1 p m2
100 w1 task_start t1
300 w1 task_spawn t2 c2 p m3
300 w1 wait_begin t2 c2
350 w2 task_start t2
450 w2 block_begin monitor c4
550 w2 block_end monitor
750 w2 task_end t2 exception
800 w1 wait_end t2 exception
900 w1 task_end t1
900 main task_spawn t3 c1 p m2
950 main task_spawn t4 c1 p m2
1000 w2 task_start t3
1100 w2 task_end t3
)";

TEST(TaskClasses, TimesOfEachClass) {
  const std::vector<TaskClass> classes = task_classes(parsed_with_rows(kTwoClasses));
  ASSERT_EQ(classes.size(), 2u);
  const TaskClass& outer = classes[0];
  EXPECT_EQ(outer.count, 3u);
  EXPECT_EQ(outer.started, 2u);
  EXPECT_EQ(outer.finished, 2u);
  EXPECT_EQ(outer.duration.total_ns, 900);
  EXPECT_EQ(outer.duration.min_ns, 100);
  EXPECT_EQ(outer.duration.p50_ns, 100);
  EXPECT_EQ(outer.duration.max_ns, 800);
  EXPECT_EQ(outer.queueing.total_ns, 100 + 100);
  EXPECT_EQ(outer.wait.total_ns, 500);
  EXPECT_DOUBLE_EQ(outer.wait_share, 500.0 / 900);
  ASSERT_TRUE(outer.cpu_share.has_value());
  EXPECT_DOUBLE_EQ(*outer.cpu_share, 1.0 - 530.0 / 900);
  const TaskClass& inner = classes[1];
  EXPECT_EQ(inner.exceptions, 1u);
  EXPECT_EQ(inner.waiters, 1u);
  EXPECT_EQ(inner.queueing.max_ns, 50);
  EXPECT_DOUBLE_EQ(inner.block_share, 0.25);
  EXPECT_DOUBLE_EQ(*inner.cpu_share, 0.75);
}

TEST(TaskClasses, KeysGroupDifferently) {
  const model::Trace trace = parsed_with_rows(R"(
0 main task_spawn t1 c1 p m2
0 main task_spawn t2 c1 p m3
0 main task_spawn t3 c2 p m3
0 w1 task_start t1
10 w1 task_end t1
10 w1 task_start t2
30 w1 task_end t2
30 w1 task_start t3
70 w1 task_end t3
)");
  EXPECT_EQ(task_classes(trace, ClassKey::body_and_context).size(), 3u);
  const std::vector<TaskClass> by_body = task_classes(trace, ClassKey::body);
  ASSERT_EQ(by_body.size(), 2u);
  EXPECT_EQ(by_body[0].duration.total_ns, 60);
  EXPECT_FALSE(by_body[0].context.valid());
  const std::vector<TaskClass> by_context = task_classes(trace, ClassKey::context);
  ASSERT_EQ(by_context.size(), 2u);
  EXPECT_EQ(by_context[0].count, 1u);
  EXPECT_FALSE(by_context[1].body.valid());
  EXPECT_FALSE(by_context[1].cpu_share.has_value());
}

// The stage of a CompletableFuture that another thread hands out, from code of the JDK's alone.
TEST(TaskClasses, AStageIsOfThePlaceThatMadeIt) {
  const std::vector<TaskClass> classes = task_classes(parsed(
      "method j java.util.concurrent.ThreadPoolExecutor.execute ThreadPoolExecutor.java:1300\n" + std::string(kRows) +
      "context k - j:1329\n0 main task_spawn t1 c1 p m2\n0 main task_create t2 c4 m3\n0 w1 task_start t1\n"
      "10 w1 task_end t1\n10 w1 task_spawn t2 k p m3\n10 w2 task_start t2\n20 w2 task_end t2\n"));
  ASSERT_EQ(classes.size(), 2u);
  EXPECT_EQ(classes[1].context, model::ContextId(3));
}

// What a task does nested in another is its own time, not the outer one's.
TEST(TaskClasses, NestedTasksKeepTheirOwnTime) {
  const std::vector<TaskClass> classes = task_classes(parsed_with_rows(R"(
0 main task_spawn t1 c1 p m2
0 w1 task_start t1
100 w1 wait_begin t2 c2
100 w1 task_start t2
200 w1 block_begin sleep c4
250 w1 block_end sleep
300 w1 task_end t2
400 w1 wait_end t2
500 w1 task_end t1
)"));
  ASSERT_EQ(classes.size(), 2u);
  EXPECT_EQ(classes[0].self_ns, 300);
  EXPECT_EQ(classes[0].wait.total_ns, 100);
  EXPECT_EQ(classes[0].block.total_ns, 0);
  EXPECT_EQ(classes[1].self_ns, 200);
  EXPECT_EQ(classes[1].block.total_ns, 50);
  EXPECT_EQ(classes[1].kind, model::TaskKind::stage);
}

TEST(DurationStats, PercentilesByNearestRank) {
  std::vector<int64_t> durations;
  for (int64_t i = 100; i >= 1; --i) durations.push_back(i);
  const DurationStats stats = summarise(durations);
  EXPECT_EQ(stats.count, 100u);
  EXPECT_EQ(stats.total_ns, 5050);
  EXPECT_EQ(stats.min_ns, 1);
  EXPECT_EQ(stats.p50_ns, 50);
  EXPECT_EQ(stats.p90_ns, 90);
  EXPECT_EQ(stats.p99_ns, 99);
  EXPECT_EQ(stats.max_ns, 100);
  EXPECT_DOUBLE_EQ(stats.mean_ns(), 50.5);
  std::vector<int64_t> none, one{7};
  EXPECT_EQ(summarise(none).count, 0u);
  EXPECT_EQ(summarise(one).p99_ns, 7);
}

}  // namespace
}  // namespace contrafact::analysis
