#include "analysis/task_executions.h"

#include <gmock/gmock.h>

#include "analysis/text_trace_for_test.h"

namespace contrafact::analysis {
namespace {

using testing::ElementsAre;
using State = ExecutionState;

// Threads main, w1, w2; pool p; see kRows. Tasks are numbered in the order of their names.
TaskExecutions executions_of(std::string_view events, bool aggregate = true) {
  return task_executions(parsed_with_rows(events), aggregate);
}

TEST(TaskExecutions, TimeOffACoreAndInPausesDoesNotCount) {
  const TaskExecutions executions = executions_of(R"(
cpu w1 200 300 blocked
cpu w1 340 440 blocked
pause 250 360
0 main task_spawn t1 c1 p m2
100 w1 task_start t1
1000 w1 task_end t1
)");
  EXPECT_TRUE(executions.core_known);
  // 900, less 200 to 300, 300 to 360 (the pause) and 360 to 440.
  EXPECT_THAT(executions.core_ns, ElementsAre(900 - 240));
}

TEST(TaskExecutions, WithoutSwitchesOfTheKernelWaitsAndBlocksDoNotCount) {
  const TaskExecutions executions = executions_of(R"(
0 main task_spawn t1 c1 p m2
0 main task_spawn t2 c1 p m3
100 w1 task_start t1
150 w1 block_begin sleep c2
250 w1 block_end sleep
300 w1 wait_begin t2 c2
400 w2 task_start t2
500 w2 task_end t2
600 w1 wait_end t2
1000 w1 task_end t1
)");
  EXPECT_FALSE(executions.core_known);
  EXPECT_THAT(executions.core_ns, ElementsAre(900 - 100 - 300, 100));
  EXPECT_THAT(executions.state, ElementsAre(State::counted, State::counted));
}

// t.run calls u.run, which calls t.run: the paper's two entries of a stack would take the inner one for a task.
TEST(TaskExecutions, ATaskThatIsCalledWithinAnotherOneThatItCallsCountsOnce) {
  const std::string_view events = R"(
0 main task_spawn t1 c1 p m2
100 w1 task_start t1
200 w1 task_start u
300 w1 task_start t1
400 w1 task_end t1
500 w1 task_end u
700 w1 task_end t1
)";
  const TaskExecutions together = executions_of(events);
  EXPECT_THAT(together.state, ElementsAre(State::counted, State::aggregated));
  EXPECT_THAT(together.core_ns, ElementsAre(600, 0));
  EXPECT_EQ(together.aggregated, 1u);
  const TaskExecutions apart = executions_of(events, false);
  EXPECT_THAT(apart.state, ElementsAre(State::counted, State::counted));
  EXPECT_THAT(apart.core_ns, ElementsAre(300, 300)) << "a nested task's time leaves its outer task";
}

// t.run calls super.run, and run calls call.
TEST(TaskExecutions, NestedCallsOfOneTasksMethodsCountAtTheOutermost) {
  const TaskExecutions executions = executions_of(R"(
0 main task_spawn t1 c1 p m2
100 w1 task_start t1
110 w1 task_start t1
120 w1 task_start t1
130 w1 task_end t1
140 w1 task_end t1
200 w1 task_end t1
)",
                                                  false);
  EXPECT_THAT(executions.state, ElementsAre(State::counted));
  EXPECT_THAT(executions.core_ns, ElementsAre(100));
}

// FutureTask around an adapter around what the program wrote: nobody handed the inner ones out.
TEST(TaskExecutions, AdaptersAndHelpersVanishIntoTheOutermostTask) {
  const TaskExecutions executions = executions_of(R"(
0 main task_spawn t0_future c1 p m2
100 w1 task_start t0_future
110 w1 task_start t1_adapter
120 w1 task_start t2_job
180 w1 task_end t2_job
190 w1 task_end t1_adapter
200 w1 task_end t0_future
)");
  EXPECT_THAT(executions.state, ElementsAre(State::counted, State::aggregated, State::aggregated));
  EXPECT_THAT(executions.core_ns, ElementsAre(100, 0, 0));
  EXPECT_EQ(executions.owner[2], model::TaskId(0)) << "recursively";
  EXPECT_EQ(executions.outer[2], model::TaskId(1));
  EXPECT_EQ(executions.nested, 0u);
}

// An executor that runs tasks in its caller: handed out by the thread that then runs it, and not in a wait.
TEST(TaskExecutions, WhatItsSpawnerRunsAtOnceIsAPartOfTheSpawner) {
  const TaskExecutions executions = executions_of(R"(
0 main task_spawn t1 c1 p m2
100 w1 task_start t1
110 w1 task_spawn t2 c2 p m3
120 w1 task_start t2
180 w1 task_end t2
200 w1 task_end t1
)");
  EXPECT_THAT(executions.state, ElementsAre(State::counted, State::aggregated));
  EXPECT_THAT(executions.core_ns, ElementsAre(100, 0));
}

// ForkJoinTask.join: w1 runs its own child, and one of another worker's. By the paper's first condition both would vanish.
TEST(TaskExecutions, ForkJoinTasksThatAWaitingWorkerHelpsWithCount) {
  const TaskExecutions executions = executions_of(R"(
0 main task_spawn t0_root c1 p m2
5 w2 task_start t1_other
6 w2 task_spawn t2_stolen c2 p m2
90 w2 task_end t1_other
100 w1 task_start t0_root
110 w1 task_spawn t3_left c2 p m2
110 w1 task_spawn t4_right c2 p m2
120 w1 wait_begin t4_right c2
130 w1 task_start t4_right
160 w1 task_end t4_right
170 w1 wait_end t4_right
180 w1 wait_begin t3_left c2
190 w1 task_start t2_stolen
230 w1 task_end t2_stolen
240 w1 wait_end t3_left
300 w1 task_end t0_root
)");
  EXPECT_THAT(executions.state,
              ElementsAre(State::counted, State::counted, State::counted, State::never, State::counted));
  // root: 100 to 120, 170 to 180, 240 to 300: neither the nested tasks nor the waits.
  EXPECT_THAT(executions.core_ns, ElementsAre(20 + 10 + 60, 85, 40, 0, 30));
  EXPECT_EQ(executions.nested, 2u);
  EXPECT_EQ(executions.never, 1u);
}

// The paper's second condition: `new MyRunnable().run()` in a thread, main here, which is no task, and t, which is one.
TEST(TaskExecutions, WhatAThreadMakesAndCallsIsAPartOfTheThread) {
  const TaskExecutions executions = executions_of(R"(
0 main task_spawn t0_thread c1 - m2
10 main task_create t1_mine c1
20 main task_start t1_mine
30 main task_end t1_mine
40 main task_create t2_theirs c1
50 w1 task_start t0_thread
60 w1 task_create t3_own c2
70 w1 task_start t3_own
80 w1 task_end t3_own
90 w1 task_start t2_theirs
95 w1 task_end t2_theirs
96 w1 task_start t4_unknown
98 w1 task_end t4_unknown
100 w1 task_end t0_thread
)");
  ASSERT_EQ(executions.state.size(), 5u);
  EXPECT_THAT(executions.state,
              ElementsAre(State::counted, State::aggregated, State::counted, State::aggregated, State::counted));
  EXPECT_FALSE(executions.owner[1].valid()) << "main is no task";
  EXPECT_EQ(executions.owner[3], model::TaskId(0));
  EXPECT_EQ(executions.core_ns[0], 50 - 5 - 2)
      << "what another thread made, and what nobody knows who made, counts itself";
  EXPECT_EQ(executions.nested, 0u) << "each task runs within a thread";
}

TEST(TaskExecutions, ATaskThatWasHandedOutCountsThoughAThreadRunsIt) {
  const TaskExecutions executions = executions_of(R"(
0 main task_spawn t0_thread c1 - m2
50 w1 task_start t0_thread
60 w1 task_spawn t1_t1 c2 p m3
70 w1 task_start t1_t1
80 w1 task_end t1_t1
100 w1 task_end t0_thread
)");
  EXPECT_THAT(executions.state, ElementsAre(State::counted, State::counted));
  EXPECT_THAT(executions.core_ns, ElementsAre(40, 10));
}

// A periodic task, or one object that is handed out twice: two numbers in the trace, two tasks here. Cancelled: never
// executed. Failed: executed.
TEST(TaskExecutions, RepeatedFailedCancelledAndUnfinishedTasks) {
  const TaskExecutions executions = executions_of(R"(
0 main task_spawn t0_first c1 p m2
0 main task_spawn t1_again c1 p m2
0 main task_spawn t2_cancelled c1 p m2
0 main task_drop t2_cancelled
0 main task_spawn t3_failed c1 p m2
0 main task_spawn t4_running c1 p m2
0 main task_create t5_future c1
0 main task_complete t5_future
10 w1 task_start t0_first
20 w1 task_end t0_first
30 w1 task_start t1_again
50 w1 task_end t1_again
60 w1 task_start t3_failed
90 w1 task_end t3_failed exception
95 w1 task_start t4_running
99 main thread_end
)");
  EXPECT_THAT(executions.state, ElementsAre(State::counted, State::counted, State::never, State::counted,
                                            State::unfinished, State::never));
  EXPECT_EQ(executions.never, 1u) << "a future that is completed by hand has nothing to execute";
  EXPECT_EQ(executions.unfinished, 1u);
  EXPECT_THAT(std::vector<int64_t>(executions.core_ns.begin(), executions.core_ns.begin() + 4),
              ElementsAre(10, 20, 0, 30));
}

}  // namespace
}  // namespace contrafact::analysis
