#include "improve/task_grains.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "model/text_trace.h"

namespace contrafact::improve {
namespace {

using model::TaskId;
using testing::ElementsAre;

constexpr std::string_view kRows =
    "method m1 shop.Main.main Main.java:1\nmethod m2 shop.Job.run Job.java:1\nmethod m3 shop.Sort.compute Sort.java:1\n"
    "context c1 - m1:7\ncontext c2 - m1:8\ncontext c3 - m3:5\ncontext c4 - m3:6\n"
    "pool p thread_pool 1 1\nthread main\nthread w1\n";

model::Trace grain_trace(std::string_view events) {
  base::Result<model::Trace> trace = model::parse_text(std::string(kRows) + std::string(events));
  EXPECT_TRUE(trace.ok()) << (trace.ok() ? "" : trace.error().message);
  return trace.ok() ? *std::move(trace) : model::Trace();
}

TEST(TaskGrains, AClassForEachLineAndBody) {
  const model::Trace trace = grain_trace(
      "0 main task_spawn t1 c1 p m2\n0 main task_spawn t2 c2 p m2\n0 main task_spawn t3 c1 p m2\n"
      "0 main task_spawn t4 c1 p m2\n"  // never runs
      "0 w1 task_start t1\n1 w1 task_end t1\n1 w1 task_start t2\n2 w1 task_end t2\n2 w1 task_start t3\n3 w1 task_end "
      "t3\n");
  const std::vector<TaskGrain> grains = task_grains(model::Facts(trace));
  ASSERT_EQ(grains.size(), 2u);
  EXPECT_THAT(grains[0].tasks, ElementsAre(TaskId(0), TaskId(2)));
  EXPECT_THAT(grains[1].tasks, ElementsAre(TaskId(1)));
  EXPECT_TRUE(grains[0].levels.empty());
}

// t1 hands out t2 and t3 at two lines, t3 hands out t4.
TEST(TaskGrains, ARecursionIsOneClassWithLevels) {
  const model::Trace trace = grain_trace(
      "0 main task_spawn t1 c1 p m3\n0 w1 task_start t1\n0 w1 task_spawn t2 c3 p m3\n0 w1 task_spawn t3 c4 p m3\n"
      "1 w1 task_end t1\n1 w1 task_start t3\n1 w1 task_spawn t4 c3 p m3\n2 w1 task_end t3\n"
      "2 w1 task_start t2\n3 w1 task_end t2\n3 w1 task_start t4\n4 w1 task_end t4\n");
  const std::vector<TaskGrain> grains = task_grains(model::Facts(trace));
  ASSERT_EQ(grains.size(), 1u);
  EXPECT_THAT(grains[0].tasks, ElementsAre(TaskId(0), TaskId(1), TaskId(2), TaskId(3)));
  EXPECT_THAT(grains[0].levels, ElementsAre(0, 1, 1, 2));
  EXPECT_EQ(grains[0].deepest, 2u);
}

// A task of another body in between begins a new recursion.
TEST(TaskGrains, LevelsCountTasksOfOneBodyOnly) {
  const model::Trace trace = grain_trace(
      "0 main task_spawn t1 c1 p m3\n0 w1 task_start t1\n0 w1 task_spawn t2 c3 p m2\n0 w1 task_spawn t4 c3 p m3\n"
      "1 w1 task_end t1\n1 w1 task_start t2\n1 w1 task_spawn t3 c4 p m3\n2 w1 task_end t2\n2 w1 task_start t3\n"
      "3 w1 task_end t3\n3 w1 task_start t4\n4 w1 task_end t4\n");
  const std::vector<TaskGrain> grains = task_grains(model::Facts(trace));
  ASSERT_EQ(grains.size(), 2u);
  EXPECT_THAT(grains[0].levels, ElementsAre(0, 0, 1));  // t1, t3, t4
}

// invokeAll(t3, t2) hands out t2 and calls t3, which does the same with t4 and t5. A task that was called has no body.
TEST(TaskGrains, LevelsCountTasksThatWereCalled) {
  const model::Trace trace = grain_trace(
      "0 main task_spawn t1 c1 p m3\n0 w1 task_start t1\n0 w1 task_spawn t2 c3 p m3\n0 w1 task_start t3\n"
      "0 w1 task_spawn t4 c3 p m3\n0 w1 task_start t5\n1 w1 task_end t5\n1 w1 task_start t4\n1 w1 task_end t4\n"
      "1 w1 task_end t3\n1 w1 task_start t2\n1 w1 task_end t2\n2 w1 task_end t1\n");
  const std::vector<TaskGrain> grains = task_grains(model::Facts(trace));
  ASSERT_EQ(grains.size(), 1u);
  EXPECT_THAT(grains[0].tasks, ElementsAre(TaskId(0), TaskId(1), TaskId(3)));
  EXPECT_THAT(grains[0].levels, ElementsAre(0, 1, 2));
}

}  // namespace
}  // namespace contrafact::improve
