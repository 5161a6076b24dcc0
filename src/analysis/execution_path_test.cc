#include "analysis/execution_path.h"

#include <gmock/gmock.h>

#include "analysis/text_trace_for_test.h"

namespace contrafact::analysis {
namespace {

std::vector<PathToken> built(std::initializer_list<PathToken> tokens) {
  PathBuilder path;
  for (const PathToken token : tokens) path.add(token);
  return path.tokens();
}

TEST(ExecutionPath, LoopsCollapse) {
  using testing::ElementsAre;
  EXPECT_THAT(built({1, 1, 1, 1}), ElementsAre(1));
  EXPECT_THAT(built({1, 2, 1, 2, 1, 2, 3}), ElementsAre(1, 2, 3));
  EXPECT_THAT(built({1, 2, 2, 3, 1, 2, 2, 2, 2, 3}), ElementsAre(1, 2, 3));  // a loop in a loop
  EXPECT_THAT(built({1, 2, 1, 3}), ElementsAre(1, 2, 1, 3));                 // not a loop
  EXPECT_THAT(built({}), ElementsAre());
}

TEST(ExecutionPath, LongPathsStayBoundedAndDiffer) {
  PathBuilder x, y, z;
  for (uint64_t i = 0; i < 100'000; ++i) {
    x.add(i + 1);
    y.add(i + 1);
    z.add(i == 50 ? 7'000'000 : i + 1);
  }
  EXPECT_LT(x.tokens().size(), 5000u);
  EXPECT_EQ(x.hash(), y.hash());
  EXPECT_NE(x.hash(), z.hash());
}

TEST(ExecutionPath, WhatCountsAsAStep) {
  const model::Trace trace = parsed_with_rows(R"(
0 main task_spawn t1 c1 p m2
0 w1 task_start t1
1 w1 method_enter m3
2 w1 method_exit m3
3 w1 task_create t2 c2 m3
3 w1 task_spawn t2 c2 p m3
4 w1 block_begin monitor c4
5 w1 block_end monitor
6 w1 wait_begin t2 c3
6 w1 task_start t2
7 w1 block_begin sleep c4
8 w1 block_end sleep
9 w1 task_end t2
9 w1 wait_end t2
9 w1 task_start t3
9 w1 task_end t3
10 w1 block_begin sleep c4
11 w1 block_end sleep
12 w1 task_end t1
)");
  EXPECT_EQ(path_text(trace, path_of(trace, model::TaskId(0)), 64),
            "call Other.run (Other.java:1); spawn at Job.run (Job.java:9); wait at Job.run (Job.java:12); stage ?; "
            "block at Other.run (Other.java:5)");
  EXPECT_EQ(path_text(trace, path_of(trace, model::TaskId(0)), 1), "call Other.run (Other.java:1); 4 more");
  EXPECT_EQ(path_text(trace, path_of(trace, model::TaskId(2)), 64), "nothing recorded");
}

// Two tasks count a latch down and await it; the last to come finds it open.
TEST(ExecutionPath, WhoeverComesLateToALatchTakesNoOtherBranch) {
  const model::Trace trace = parsed_with_rows(R"(
0 main task_spawn t1 c1 p m2
0 main task_spawn t2 c1 p m2
1 w1 task_start t1
2 w1 block_begin park c2
8 w1 block_end park
9 w1 task_end t1
10 w1 task_start t2
11 w1 task_end t2
)");
  EXPECT_EQ(path_of(trace, model::TaskId(0)), path_of(trace, model::TaskId(1)));
}

}  // namespace
}  // namespace contrafact::analysis
