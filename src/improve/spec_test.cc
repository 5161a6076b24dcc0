#include "improve/spec.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "improve/at_wait_expression.h"
#include "improve/combinator_expression.h"
#include "improve/kinds/kinds.h"
#include "improve/task_candidates.h"
#include "model/text_trace.h"

namespace contrafact::improve {
namespace {

using model::TaskId;
using model::Trace;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using whatif::Improvement;

// t1 coordinates t2 and t3; t4 and t5 are spawned at one place, and only t5 enters m5.
constexpr std::string_view kProgram = R"(thread main
thread w1
thread w2
thread w3
pool p1 thread_pool 3 3 "es"
method m1 shop.Example.main Example.java:3
method m2 shop.Example.parallelSum Example.java:10
method m3 shop.Example.longOperation1 Example.java:20
method m4 shop.Example.lambda$sum$0 Example.java:30
method m5 shop.Example.slow Example.java:50
context c1 - m1:4
context c2 c1 m2:11
context c3 c1 m2:12
context c4 c1 m2:13
context c5 - m1:7
10 main task_spawn t1 c1 p1 m2
11 main wait_begin t1 c1
16 w1 task_start t1
20 w1 task_spawn t2 c2 p1 m3
24 w1 task_spawn t3 c3 p1 m4
28 w1 wait_begin t2 c4
26 w2 task_start t2
67 w2 task_end t2
30 w3 task_start t3
91 w3 task_end t3
70 w1 wait_end t2
72 w1 wait_begin t3 c4
95 w1 wait_end t3
101 w1 task_end t1
106 main wait_end t1
110 main task_spawn t4 c5 p1 m3
111 main task_spawn t5 c5 p1 m3
112 w2 task_start t4
113 w2 task_end t4
113 w3 task_start t5
114 w3 method_enter m5
120 w3 method_exit m5
121 w3 task_end t5
130 main thread_end
)";

Trace trace_from(std::string_view text) {
  return *model::parse_text(text);
}

Improvement coordinator(const Trace& trace) {
  Improvement improvement;
  improvement.optimisation = kinds::convert_to_combinator;
  improvement.tasks = {TaskId(0)};
  improvement.context_tasks = 1;
  improvement.spawn_context = trace.tasks[0].spawn_context;
  improvement.body = trace.tasks[0].body;
  improvement.warnings = {"the task blocks on a queue"};
  return improvement;
}

TEST(Combinator, OfTwoParallelSubTasks) {
  const Trace trace = trace_from(kProgram);
  EXPECT_EQ(
      combinator_expression(*graph::build_dag(trace), TaskId(0)),
      "CompletableFuture.supplyAsync(() -> { /* Example.longOperation1, Example.java:20 */ return null; }, executor)"
      ".thenCombine(CompletableFuture.supplyAsync(() -> { /* Example.java:30 */ return null; }, executor), "
      "(a, b) -> { /* Example.java from line 13 on */ return null; })");
}

TEST(Combinator, OfOneAfterTheOther) {
  const Trace trace = trace_from(R"(thread a
thread b
pool p1 fork_join 2
method m1 x.Y.outer Y.java:1
method m2 x.Y.first Y.java:5
method m3 x.Y.second Y.java:9
context c1 - m1:3
0 a task_spawn t1 - p1 m1
0 a task_start t1
1 a task_spawn t2 - p1 m2
1 b task_start t2
2 b task_end t2
2 a wait_begin t2 c1
3 a wait_end t2
4 a task_spawn t3 - p1 m3
4 b task_start t3
5 b task_end t3
6 a wait_begin t3 c1
7 a wait_end t3
8 a task_end t1
)");
  EXPECT_EQ(
      combinator_expression(*graph::build_dag(trace), TaskId(0)),
      "CompletableFuture.supplyAsync(() -> { /* Y.first, Y.java:5 */ return null; }, executor)"
      ".thenCompose(r1 -> CompletableFuture.supplyAsync(() -> { /* Y.second, Y.java:9 */ return null; }, executor)"
      ".thenApply(a -> { /* Y.java from line 3 on */ return null; }))");
}

// Like ones are written once, whatever number of tasks they stand for.
TEST(Combinator, OfManyTasks) {
  const Trace trace = trace_from(kProgram);
  const graph::TraceDag dag = *graph::build_dag(trace);
  const std::vector<TaskId> tasks{TaskId(0), TaskId(1), TaskId(0)};
  EXPECT_THAT(combinator_expressions(dag, tasks),
              ElementsAre(std::pair<const std::string, uint64_t>("", 1),
                          std::pair<const std::string, uint64_t>(combinator_expression(dag, TaskId(0)), 2)));
}

// A wait's innermost frames are the JDK's, whose lines are of other files.
TEST(Combinator, NamesTheLineOfTheCoordinatorsOwnCode) {
  const Trace trace = trace_from(R"(thread a
thread b
pool p1 fork_join 2 2 ForkJoinPool.commonPool
method m1 x.Y.outer Y.java:1
method m2 x.Y.first Y.java:5
method m3 java.util.concurrent.FutureTask.get FutureTask.java:180
method m4 x.Waits.join Waits.java:70
context c1 - m1:3
context c2 c1 m4:71
context c3 c2 m3:188
0 a task_spawn t1 - p1 m1
0 a task_start t1
1 a task_spawn t2 c1 p1 m2
1 b task_start t2
2 b task_end t2
2 a wait_begin t2 c3
3 a wait_end t2
8 a task_end t1
)");
  EXPECT_EQ(combinator_expression(*graph::build_dag(trace), TaskId(0)),
            "CompletableFuture.supplyAsync(() -> { /* Y.first, Y.java:5 */ return null; })"
            ".thenApply(a -> { /* Y.java from line 3 on */ return null; })");
}

// A lambda that only calls the method in which all happens: what follows the wait is in that method.
TEST(Combinator, NamesTheLineOfTheMethodThatHandsOutAndWaits) {
  const Trace trace = trace_from(R"(thread a
thread b
pool p1 fork_join 2 2 ForkJoinPool.commonPool
method m1 x.Y.lambda$main$0 Y.java:3
method m2 x.Y.first Y.java:50
method m3 x.Y.invoice Y.java:20
method m4 x.Y.taxed Y.java:30
method m5 java.util.concurrent.FutureTask.get FutureTask.java:180
context c1 - m1:3
context c2 c1 m3:21
context c3 c2 m4:31
context c4 c1 m3:24
context c5 c4 m5:188
0 a task_spawn t1 - p1 m1
0 a task_start t1
1 a task_spawn t2 c3 p1 m2
1 b task_start t2
2 b task_end t2
2 a wait_begin t2 c5
3 a wait_end t2
8 a task_end t1
)");
  EXPECT_EQ(combinator_expression(*graph::build_dag(trace), TaskId(0)),
            "CompletableFuture.supplyAsync(() -> { /* Y.first, Y.java:50 */ return null; })"
            ".thenApply(a -> { /* Y.java from line 24 on */ return null; })");
}

TEST(Combinator, NamesTheFieldThatHoldsTheExecutor) {
  const auto expression = [](std::string_view field) {
    std::string text(kProgram);
    if (!field.empty()) text.insert(0, "fact pool.field.0 " + std::string(field) + "\n");
    const Trace trace = trace_from(text);
    return combinator_expression(*graph::build_dag(trace), TaskId(0));
  };
  EXPECT_THAT(expression("shop.Example.POOL"), HasSubstr("null; }, POOL)"));
  EXPECT_THAT(expression("shop.Examples.POOL"), HasSubstr("null; }, Examples.POOL)"));
  EXPECT_THAT(expression("shop.Pools$Io.POOL"), HasSubstr("null; }, Pools.Io.POOL)"));
  EXPECT_THAT(expression(""), HasSubstr("null; }, executor)"));
}

TEST(Combinator, NamesTheMemberThatHoldsTheExecutorInItsOwnClass) {
  const auto expression = [](std::string_view member) {
    const Trace trace = trace_from("fact pool.member.0 " + std::string(member) + "\n" + std::string(kProgram));
    return combinator_expression(*graph::build_dag(trace), TaskId(0));
  };
  EXPECT_THAT(expression("shop.Example.pool"), HasSubstr("null; }, pool)"));
  EXPECT_THAT(expression("shop.Other.pool"), HasSubstr("null; }, executor)"));
}

TEST(Combinator, NamesTheVariableThatHasAValueThere) {
  const auto expression = [](std::string_view variables) {
    std::string text(kProgram);
    text.insert(0, "fact executors.shop.Example \"" + std::string(variables) + "\"\n");
    const Trace trace = trace_from(text);
    return combinator_expression(*graph::build_dag(trace), TaskId(0));
  };
  EXPECT_THAT(expression("parallelSum 12-40 ExecutorService workers;"), HasSubstr("null; }, workers)"));
  EXPECT_THAT(expression("parallelSum 12-40 ForkJoinPool forks;parallelSum 13-13 Executor workers;"),
              HasSubstr("null; }, workers)"));
  EXPECT_THAT(expression("parallelSum 14-40 ExecutorService workers;"), HasSubstr("null; }, executor)"));
  EXPECT_THAT(expression("other 12-40 ExecutorService workers;"), HasSubstr("null; }, executor)"));
  EXPECT_THAT(expression("parallelSum 12-40 Executor a;parallelSum 12-40 Executor b;"),
              HasSubstr("null; }, executor)"));
  EXPECT_THAT(expression("parallelSum 12 workers"), HasSubstr("null; }, executor)"));
  EXPECT_THAT(expression("parallelSum 12-40 ExecutorService work"), HasSubstr("null; }, executor)"));  // cut off
  EXPECT_THAT(expression("parallelSum 12-40 ScheduledExecutorService timer;"), HasSubstr("null; }, executor)"));
  EXPECT_THAT(expression("parallelSum 12-40 AbstractExecutorService workers;"), HasSubstr("null; }, workers)"));
}

TEST(Combinator, OfForkJoinTasksIsACompleter) {
  const Trace trace = trace_from(R"(thread a
thread b
pool p1 fork_join 2
method m1 x.Fib.compute Fib.java:9
method m2 java.util.concurrent.ForkJoinTask.fork ForkJoinTask.java:600
method m3 java.util.concurrent.ForkJoinTask.join ForkJoinTask.java:650
context c1 - m1:12
context c2 c1 m2:601
context c3 - m1:14
context c4 c3 m3:651
0 a task_spawn t1 - p1 m1
0 a task_start t1
1 a task_spawn t2 c2 p1 m1
1 a task_spawn t3 c2 p1 m1
2 b task_start t2
3 b task_end t2
3 b task_start t3
4 b task_end t3
2 a wait_begin t2 c4
3 a wait_end t2
4 a wait_begin t3 c4
5 a wait_end t3
8 a task_end t1
)");
  EXPECT_EQ(combinator_expression(*graph::build_dag(trace), TaskId(0)),
            "setPendingCount(2); /* fork 2 times Fib.compute, Fib.java:9, with this as completer */ tryComplete(); "
            "/* onCompletion: Fib.java from line 14 on */");
}

TEST(AtWait, IsWrittenAsTheTaskWasHandedOut) {
  const auto expression = [](std::string_view library_frame) {
    std::string text(kProgram);
    if (!library_frame.empty()) {
      text.replace(text.find("task_spawn t3 c3"), 16, "task_spawn t3 c9");
      text.insert(text.find("10 main task_spawn"), "method m9 java.util.concurrent." + std::string(library_frame) +
                                                       " X.java:100\ncontext c9 c3 m9:101\n");
    }
    return at_wait_expression(trace_from(text), TaskId(2));
  };
  using Expression = AtWaitExpression;
  EXPECT_EQ(expression(""), (Expression{"", ""}));  // by no class of java.util.concurrent
  EXPECT_EQ(
      expression("AbstractExecutorService.submit"),
      (Expression{"new FutureTask<>(() -> { /* Example.java:30 */ return null; })", "((Runnable) future).run();"}));
  EXPECT_EQ(expression("CompletableFuture.supplyAsync"),
            (Expression{"new CompletableFuture<>()",
                        "future.completeAsync(() -> { /* Example.java:30 */ return null; }, Runnable::run);"}));
  EXPECT_EQ(expression("ForkJoinPool.submit"),
            (Expression{"ForkJoinTask.adapt(() -> { /* Example.java:30 */ return null; })", "future.invoke();"}));
  EXPECT_EQ(expression("ForkJoinTask.fork"), (Expression{"/* no fork of Example.java:30 */", "future.invoke();"}));
}

// Of one improvement of tasks.
std::string written(const Trace& trace, const graph::TraceDag& dag, const Improvement& improvement) {
  Candidate candidate;
  candidate.improvement = improvement;
  const SpecEntry entry{candidate};
  return write_spec({.trace = trace, .dag = &dag}, {&entry, 1});
}

base::Result<std::vector<Candidate>> read_one(const SpecTrace& in, std::string_view json) {
  const SpecText text{.name = "", .json = std::string(json)};
  return read_specs(in, {&text, 1});
}

TEST(Spec, SelectsTheSameTasksAgain) {
  const Trace trace = trace_from(kProgram);
  const graph::TraceDag dag = *graph::build_dag(trace);
  const std::string spec = written(trace, dag, coordinator(trace));
  EXPECT_THAT(spec, HasSubstr("\"schema\": \"contrafact-improvement-1\""));
  EXPECT_THAT(spec, HasSubstr("thenCombine"));
  base::Result<std::vector<Candidate>> read = read_one({.trace = trace, .dag = &dag}, spec);
  ASSERT_TRUE(read.ok()) << read.error().message;
  ASSERT_EQ(read->size(), 1u);
  EXPECT_THAT((*read)[0].improvement.tasks, ElementsAre(TaskId(0)));
  EXPECT_THAT((*read)[0].improvement.warnings, ElementsAre("the task blocks on a queue"));
  EXPECT_EQ(written(trace, dag, (*read)[0].improvement), spec);
}

// A stage is made at one place: whether its source was complete by then is chance.
constexpr std::string_view kStages = R"(thread main
thread w1
pool p thread_pool 2 2
method m1 shop.Main.main Main.java:1
method m2 shop.Main.decode Main.java:20
method m3 shop.Main.check Main.java:30
method f1 java.util.concurrent.CompletableFuture.thenApplyAsync CompletableFuture.java:2150
method f2 java.util.concurrent.CompletableFuture.uniApplyStage CompletableFuture.java:640
method f3 java.util.concurrent.CompletableFuture.uniApplyNow CompletableFuture.java:670
method f4 java.util.concurrent.CompletableFuture.postComplete CompletableFuture.java:500
context c1 - m1:7
context c2 c1 f1:2155
context c3 c2 f2:641
context c4 c2 f2:638
context c5 c4 f3:671
context c6 - f4:510
0 main task_spawn t1 c1 p m2
0 main task_create t2 c3 m3
0 main task_depends t2 t1 all
0 w1 task_start t1
5 w1 task_complete t1
5 w1 task_spawn t2 c6 p m3
6 w1 task_end t1
6 w1 task_start t2
8 w1 task_end t2
9 main task_create t3 c5 m3
9 main task_depends t3 t1 all
9 main task_spawn t3 c5 p m3
10 w1 task_start t3
12 w1 task_end t3
20 main thread_end
)";

TEST(Spec, OfAStageThatACompletedSourceHandsOutSelectsItAgain) {
  const Trace trace = trace_from(kStages);
  const graph::TraceDag dag = *graph::build_dag(trace);
  const Candidates all = task_candidates(trace);
  const auto stages = std::ranges::find_if(
      all.candidates, [&](const Candidate& candidate) { return candidate.improvement.tasks[0] != TaskId(0); });
  ASSERT_NE(stages, all.candidates.end());
  EXPECT_THAT(stages->improvement.tasks, ElementsAre(TaskId(1), TaskId(2)));
  const std::string spec = written(trace, dag, stages->improvement);
  EXPECT_THAT(spec, HasSubstr("thenApplyAsync"));
  EXPECT_THAT(spec, testing::Not(HasSubstr("uniApply"))) << "the future's own business";
  base::Result<std::vector<Candidate>> read = read_one({.trace = trace, .dag = &dag}, spec);
  ASSERT_TRUE(read.ok()) << read.error().message;
  EXPECT_EQ((*read)[0].improvement.tasks, stages->improvement.tasks);
}

TEST(Spec, OfATaskAtItsWaitSelectsItAgainUnlessThatHasATimeLimit) {
  std::string text(kProgram);
  text.insert(text.find("10 main task_spawn"),
              "method m8 java.util.concurrent.FutureTask.get FutureTask.java:190\ncontext c8 c4 m8:191\n"
              "method m9 java.util.concurrent.AbstractExecutorService.submit X.java:100\ncontext c9 c2 m9:101\n");
  text.replace(text.find("task_spawn t2 c2"), 16, "task_spawn t2 c9");
  text.replace(text.find("wait_begin t2 c4"), 16, "wait_begin t2 c8");
  const Trace trace = trace_from(text);
  const graph::TraceDag dag = *graph::build_dag(trace);
  Improvement at_wait{.optimisation = kinds::inline_at_wait,
                      .spawn_context = trace.tasks[1].spawn_context,
                      .body = trace.tasks[1].body,
                      .tasks = {TaskId(1)},
                      .context_tasks = 1};
  const std::string spec = written(trace, dag, at_wait);
  EXPECT_THAT(spec, HasSubstr("\"wait\": \"((Runnable) future).run();\""));
  EXPECT_THAT(spec, HasSubstr("\"waits\""));
  base::Result<std::vector<Candidate>> read = read_one({.trace = trace, .dag = &dag}, spec);
  ASSERT_TRUE(read.ok()) << read.error().message;
  EXPECT_EQ((*read)[0].improvement.optimisation, kinds::inline_at_wait);
  EXPECT_THAT((*read)[0].improvement.tasks, ElementsAre(TaskId(1)));
  EXPECT_EQ(written(trace, dag, (*read)[0].improvement), spec);
  const Trace timed = trace_from("fact method.timed.5 yes\n" + text);
  const graph::TraceDag timed_dag = *graph::build_dag(timed);
  EXPECT_THAT(read_one({.trace = timed, .dag = &timed_dag}, spec).error().message,
              HasSubstr("inline-at-wait: a task is waited for with a time limit"));
}

TEST(Spec, SelectsABranchByItsPath) {
  const Trace trace = trace_from(kProgram);
  const graph::TraceDag dag = *graph::build_dag(trace);
  Improvement hoist;
  hoist.optimisation = kinds::hoist_branch;
  hoist.tasks = {TaskId(3)};
  hoist.context_tasks = 2;
  hoist.spawn_context = trace.tasks[3].spawn_context;
  hoist.body = trace.tasks[3].body;
  hoist.path = branch_conditions(dag, {TaskId(3)}, {TaskId(4)});
  ASSERT_EQ(hoist.path.size(), 1u);
  EXPECT_FALSE(hoist.path[0].holds);
  EXPECT_EQ(hoist.path[0].method, model::MethodId(4));
  base::Result<std::vector<Candidate>> read = read_one({.trace = trace, .dag = &dag}, written(trace, dag, hoist));
  ASSERT_TRUE(read.ok()) << read.error().message;
  EXPECT_THAT((*read)[0].improvement.tasks, ElementsAre(TaskId(3)));
  EXPECT_EQ((*read)[0].improvement.context_tasks, 2u);
}

TEST(Spec, ErrorsSayWhatIsWrong) {
  const Trace trace = trace_from(kProgram);
  const graph::TraceDag dag = *graph::build_dag(trace);
  auto error = [&](std::string_view spec) { return read_one({.trace = trace, .dag = &dag}, spec).error().message; };
  EXPECT_EQ(error("{"), "the spec is not valid JSON");
  EXPECT_THAT(error("{\"schema\": 3}"), HasSubstr("\"schema\" is not"));
  const std::string head = "{\"schema\": \"contrafact-improvement-1\", \"improvements\": [";
  EXPECT_EQ(error(head + "]}"), "the spec has no \"improvements\"");
  EXPECT_EQ(error(head + "7]}"), "improvement 1: it is no object");
  EXPECT_THAT(error(head + "{\"optimisation\": \"faster\"}]}"),
              HasSubstr("improvement 1: \"faster\" is no optimisation: convert-to-inline, "));
  EXPECT_EQ(error(head + "{\"optimisation\": \"drop-lock\"}]}"),
            "improvement 1: drop-lock: this recording has no locks");
  EXPECT_THAT(error(head + "{\"optimisation\": 5}]}"), HasSubstr("improvement 1: "));
  EXPECT_THAT(error(head + R"({"optimisation": "convert-to-inline", "spawn": {"frames":
      [{"class": "shop.Other", "method": "x", "line": 4}]}}]})"),
              HasSubstr("no task of this trace is spawned at shop.Other.x:4"));
}

TEST(Spec, SizesAndTasksInOneDocument) {
  const Trace trace = trace_from(kProgram);
  const graph::TraceDag dag = *graph::build_dag(trace);
  Candidate tasks, pool, cores;
  tasks.improvement = coordinator(trace);
  pool.improvement = {.optimisation = kinds::pool_size, .pool = model::PoolId(0), .size_before = 3, .size_after = 5};
  cores.improvement = {.optimisation = kinds::cores, .size_before = 2, .size_after = 4};
  const std::vector<SpecEntry> entries{{tasks}, {pool, "a gain"}, {cores}};
  const SpecTrace in{.trace = trace, .dag = &dag};
  const auto read = read_one(in, write_spec(in, entries));
  ASSERT_TRUE(read.ok()) << read.error().message;
  ASSERT_EQ(read->size(), 3u);
  EXPECT_THAT((*read)[0].improvement.tasks, ElementsAre(TaskId(0)));
  EXPECT_EQ((*read)[1].improvement.pool, model::PoolId(0));
  EXPECT_EQ((*read)[1].improvement.size_after, 5u);
  EXPECT_EQ((*read)[2].improvement.optimisation, kinds::cores);
  EXPECT_EQ((*read)[2].improvement.size_after, 4u);
}

TEST(Spec, OfPoolsWithOneNameTheSameIsSelected) {
  const Trace trace =
      trace_from(std::string(kProgram).replace(kProgram.find("pool p1"), 0, "pool p0 thread_pool 1 1 \"es\"\n"));
  Candidate pool;
  pool.improvement = {.optimisation = kinds::pool_size, .pool = model::PoolId(1), .size_after = 5};
  const SpecEntry entry{pool};
  const auto read = read_one({.trace = trace}, write_spec({.trace = trace}, {&entry, 1}));
  ASSERT_TRUE(read.ok()) << read.error().message;
  EXPECT_EQ((*read)[0].improvement.pool, model::PoolId(1));
}

TEST(Spec, SizesThatCannotBe) {
  const Trace trace = trace_from(kProgram);
  const auto error = [&](std::string_view entry) {
    return read_one({.trace = trace},
                    R"({"schema": "contrafact-improvement-1", "improvements": [)" + std::string(entry) + "]}")
        .error()
        .message;
  };
  EXPECT_EQ(error(R"({"optimisation": "cores"})"), "improvement 1: cores: \"size\" with \"after\" is missing");
  for (const char* after : {"0", "-1", "2.5", "4294967297", "\"3\""}) {
    EXPECT_EQ(error(std::string(R"({"optimisation": "cores", "size": {"after": )") + after + "}}"),
              "improvement 1: cores: \"after\" is no whole number from 1 to 1000000");
  }
  EXPECT_EQ(error(R"({"optimisation": "pool-size", "pool": "x", "size": {"after": 2}})"),
            "improvement 1: pool-size: this recording has no pool 'x'");
  EXPECT_EQ(error(R"({"optimisation": "convert-to-inline", "spawn": {"frames": []}})"),
            "improvement 1: convert-to-inline: only locks change here: contrafact estimate takes specs of all kinds");
}

}  // namespace
}  // namespace contrafact::improve
