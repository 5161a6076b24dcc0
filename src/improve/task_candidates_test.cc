#include "improve/task_candidates.h"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include "analysis/model_violations.h"
#include "analysis/text_trace_for_test.h"
#include "improve/kinds/kinds.h"
#include "model/random_trace_for_test.h"
#include "model/trace_builder.h"

namespace contrafact::improve {
namespace {

using analysis::BlockIndex;
using analysis::model_violations;
using analysis::parsed;
using analysis::parsed_with_rows;
using analysis::Violation;
using analysis::ViolationKind;

using model::TaskId;
using testing::ElementsAre;
using testing::IsEmpty;

std::vector<const Candidate*> of_kind(Candidates&& all, const Kind* kind) = delete;
std::vector<const Candidate*> of_kind(const Candidates& all, const Kind* kind) {
  std::vector<const Candidate*> found;
  for (const Candidate& candidate : all.candidates) {
    if (candidate.improvement.optimisation == kind) found.push_back(&candidate);
  }
  return found;
}

std::vector<std::string> reasons(const Candidates& all) {
  std::vector<std::string> texts;
  for (const Ineligible& row : all.ineligible) texts.push_back(row.reason + ": " + std::to_string(row.tasks));
  return texts;
}

// Four tasks of one place: t1 and t3 sleep, t2 and t4 do not.
constexpr std::string_view kBranches = R"(
0 main task_spawn t1 c1 p m2
0 main task_spawn t2 c1 p m2
0 main task_spawn t3 c1 p m2
0 main task_spawn t4 c1 p m2
0 w1 task_start t1
1 w1 block_begin sleep c2
900 w1 block_end sleep
901 w1 task_end t1
902 w1 task_start t2
903 w1 task_end t2
904 w1 task_start t3
904 w1 block_begin sleep c2
1800 w1 block_end sleep
1801 w1 task_end t3
1802 w1 task_start t4
1803 w1 task_end t4
)";

TEST(TaskCandidates, OnePlaceAndItsBranches) {
  const model::Trace trace = parsed_with_rows(kBranches);
  const Candidates all = task_candidates(trace);
  const auto inlines = of_kind(all, kinds::convert_to_inline);
  ASSERT_EQ(inlines.size(), 1u);
  EXPECT_EQ(inlines[0]->improvement.tasks.size(), 4u);
  EXPECT_EQ(trace.context_label(inlines[0]->improvement.spawn_context), "Main.main (Main.java:7)");
  EXPECT_EQ(trace.method_label(inlines[0]->improvement.body), "Job.run (Job.java:1)");
  const auto branches = of_kind(all, kinds::hoist_branch);
  ASSERT_EQ(branches.size(), 2u);
  EXPECT_THAT(branches[0]->improvement.tasks, ElementsAre(TaskId(0), TaskId(2)));
  EXPECT_EQ(branches[0]->path, "block at Job.run (Job.java:9)");
  EXPECT_EQ(branches[0]->other_path, "nothing recorded");
  EXPECT_THAT(branches[1]->improvement.tasks, ElementsAre(TaskId(1), TaskId(3)));
  EXPECT_EQ(branches[1]->other_path, "block at Job.run (Job.java:9)");
  EXPECT_EQ(branches[1]->improvement.context_tasks, 4u);
  EXPECT_EQ(branches[0]->set, inlines[0]->set);
  EXPECT_THAT(of_kind(all, kinds::convert_to_combinator), IsEmpty());
  EXPECT_THAT(all.ineligible, IsEmpty());
}

TEST(TaskCandidates, EqualPathsAreNoBranch) {
  std::string text(kBranches);
  for (size_t at; (at = text.find(" block_")) != std::string::npos;) {
    const size_t begin = text.rfind('\n', at) + 1;
    text.erase(begin, text.find('\n', at) + 1 - begin);
  }
  const Candidates all = task_candidates(parsed_with_rows(text));
  EXPECT_EQ(all.candidates.size(), 1u);
}

TEST(TaskCandidates, CoordinatorsSpawnAndWait) {
  const model::Trace trace = parsed_with_rows(R"(
0 main task_spawn t1 c1 p m2
0 main task_spawn t2 c1 p m2
0 w1 task_start t1
0 w1 task_spawn t3 c2 p m3
0 w1 wait_begin t3 c3
0 w2 task_start t3
9 w2 task_end t3
9 w1 wait_end t3
10 w1 task_end t1
10 w1 task_start t2
10 w1 wait_begin t3 c3
10 w1 wait_end t3
11 w1 task_end t2
)");
  const Candidates all = task_candidates(trace);
  const auto found = of_kind(all, kinds::convert_to_combinator);
  ASSERT_EQ(found.size(), 1u);
  // t2 waits for a task, but for none of its own.
  EXPECT_THAT(found[0]->improvement.tasks, ElementsAre(TaskId(0)));
  EXPECT_EQ(of_kind(all, kinds::convert_to_inline).size(), 2u);
}

// invokeAll hands out t1 and t2, which run different code: the change is in the body of the one that coordinates.
TEST(TaskCandidates, OfSeveralBodiesTheCoordinatorsOwnIsNamed) {
  const model::Trace trace = parsed_with_rows(R"(
0 main task_spawn t1 c1 p m2
0 main task_spawn t2 c1 p m3
0 w1 task_start t1
0 w1 task_spawn t3 c2 p m3
0 w1 wait_begin t3 c3
0 w2 task_start t3
9 w2 task_end t3
9 w1 wait_end t3
10 w1 task_end t1
10 w1 task_start t2
11 w1 task_end t2
)");
  const Candidates all = task_candidates(trace);
  const auto found = of_kind(all, kinds::convert_to_combinator);
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(trace.method_label(found[0]->improvement.body), "Job.run (Job.java:1)");
}

TEST(TaskCandidates, ReasonsWhyNot) {
  const Candidates all = task_candidates(parsed_with_rows(R"(
thread other
0 main task_spawn t1 c1 p m2
0 main task_spawn t2 c1 p m2
0 w1 task_start t1
5 w1 task_end t1
0 main wait_begin t1 c1
3 main wait_end - timeout
3 main task_spawn t3 c2 p m2
3 main task_spawn t4 c3 p m2
3 main task_delay t4 1
3 main task_spawn t5 c4
3 other task_start t5
9 other task_end t5
1003 w1 task_start t4
1004 w1 task_end t4
)"));
  EXPECT_THAT(all.candidates, IsEmpty());
  EXPECT_THAT(reasons(all),
              testing::UnorderedElementsAre("waited for with a time-out: 1", "never started: 1", "never started: 1",
                                            "delayed or periodic: their time of execution matters: 1",
                                            "runs of a thread, not tasks of a pool: 1"));
}

// Tasks that never ran do not stand in the way of those that did.
// Forty tasks of one place; the first `cancelled` of them are cancelled by another thread while they run, and go on to
// their ends.
std::string cancelled_while_running(int cancelled) {
  std::string text;
  for (int i = 1; i <= 40; ++i) text += fmt::format("0 main task_spawn t{} c1 p m2\n", i);
  for (int i = 1; i <= 40; ++i) {
    text += fmt::format("{} w1 task_start t{}\n", 100 * i, i);
    if (i <= cancelled) text += fmt::format("{} w2 task_complete t{} cancelled\n", 100 * i + 90, i);
    text += fmt::format("{} w1 task_end t{}\n", 100 * i + 91, i);
  }
  return text;
}

// A library that disposes of what has ended sometimes meets a task that is just ending.
TEST(TaskCandidates, ACancelThatCameTooLateIsSaidAndRulesNothingOut) {
  const model::Trace trace = parsed_with_rows(cancelled_while_running(2));
  const Candidates all = task_candidates(trace);
  ASSERT_EQ(all.candidates.size(), 1u);
  EXPECT_EQ(all.candidates[0].improvement.tasks.size(), 40u);
  const std::vector<Violation> violations = model_violations(BlockIndex(trace), all.candidates[0].improvement.tasks);
  ASSERT_EQ(violations.size(), 1u);
  EXPECT_EQ(violations[0].kind, ViolationKind::cancelled);
  EXPECT_EQ(violations[0].tasks, 2u);
}

TEST(TaskCandidates, OftenCancelledWhileTheyRunRulesOut) {
  const Candidates all = task_candidates(parsed_with_rows(cancelled_while_running(3)));
  EXPECT_THAT(all.candidates, IsEmpty());
  EXPECT_THAT(reasons(all),
              ElementsAre("cancelled while they ran: 3", "others of the same place rule the change out: 40"));
}

TEST(TaskCandidates, AResultThatWasMissedRulesOut) {
  const Candidates all = task_candidates(
      parsed_with_rows(cancelled_while_running(1) + "0 main wait_begin t1 c1\n195 main wait_end t1 cancelled\n"));
  EXPECT_THAT(all.candidates, IsEmpty());
}

TEST(TaskCandidates, NeverStartedTasksAreLeftOut) {
  const Candidates all = task_candidates(parsed_with_rows(R"(
0 main task_spawn t1 c1 p m2
0 main task_spawn t2 c1 p m2
0 w1 task_start t1
5 w1 task_end t1
)"));
  ASSERT_EQ(all.candidates.size(), 1u);
  EXPECT_THAT(all.candidates[0].improvement.tasks, ElementsAre(TaskId(0)));
  EXPECT_THAT(reasons(all), ElementsAre("never started: 1"));
}

// An asynchronous stage is handed out by whoever completes its source; its place is where it was made.
TEST(TaskCandidates, DependentStagesBelongToWhereTheyWereMade) {
  const model::Trace trace = parsed_with_rows(R"(
0 main task_spawn t1 c1 p m2
0 main task_create t2 c1 m3
0 main task_depends t2 t1 all
0 main task_create t3 c1 m3
0 main task_depends t3 t1 all
0 w1 task_start t1
5 w1 task_complete t1
5 w1 task_spawn t2 c2 p m3
5 w1 task_spawn t3 c3 p m3
6 w1 task_end t1
6 w2 task_start t2
8 w2 task_end t2
8 w2 task_start t3
9 w2 task_end t3
)");
  const Candidates all = task_candidates(trace);
  ASSERT_EQ(all.candidates.size(), 2u);
  EXPECT_THAT(all.candidates[1].improvement.tasks, ElementsAre(TaskId(1), TaskId(2)));
  EXPECT_EQ(trace.context_label(all.candidates[1].improvement.spawn_context), "Main.main (Main.java:7)");
}

TEST(TaskCandidates, ManyPathsKeepTheMostFrequent) {
  model::TraceBuilder builder;
  const model::MethodId body = builder.add_method("shop.Job", "run", "Job.java", 1);
  const model::ContextId context = builder.add_context({}, body, 2);
  const model::PoolId pool = builder.add_pool("p", format::PoolKind::thread_pool, 1, 1);
  const model::ThreadId main = builder.add_thread("main"), worker = builder.add_thread("w");
  std::vector<model::MethodId> methods;
  for (uint32_t i = 0; i < 30; ++i) methods.push_back(builder.add_method("shop.Job", "step", "Job.java", 10 + i));
  for (uint32_t i = 0; i < 31; ++i) {
    const TaskId task = builder.add_task();
    builder.spawn(main, i, task, context, pool, body);
    builder.add(worker, model::EventKind::task_start, i, task);
    const uint32_t method = methods[i == 30 ? 17 : i].value;
    builder.add(worker, model::EventKind::method_enter, i, {method, 0, 0, 0});
    builder.add(worker, model::EventKind::method_exit, i, {method, 0, 0, 0});
    builder.add(worker, model::EventKind::task_end, i, task);
  }
  const base::Result<model::Trace> trace = builder.build();
  ASSERT_TRUE(trace.ok());
  const Candidates all = task_candidates(*trace, {.branches_max = 3});
  const auto branches = of_kind(all, kinds::hoist_branch);
  ASSERT_EQ(branches.size(), 3u);
  EXPECT_THAT(branches[0]->improvement.tasks, ElementsAre(TaskId(17), TaskId(30)));
  EXPECT_THAT(reasons(all), ElementsAre("too many execution paths: only the most frequent are tried: 27"));
}

// No call in place can say that the first of several wins, or that results are taken as they come.
TEST(TaskCandidates, WhatIsTakenAsItComesIsNoCandidate) {
  const model::Trace trace = parsed_with_rows(R"(
method any java.util.concurrent.AbstractExecutorService.invokeAny AbstractExecutorService.java:225
method submit java.util.concurrent.ExecutorCompletionService.submit ExecutorCompletionService.java:184
context c5 c1 any:228
context c6 c1 submit:186
0 main task_spawn t1 c5 p m2
0 main task_spawn t2 c6 p m2
0 main task_spawn t3 c1 p m2
0 w1 task_start t1
10 w1 task_end t1
10 w1 task_start t2
20 w1 task_end t2
20 w1 task_start t3
30 w1 task_end t3
)");
  const Candidates found = task_candidates(trace);
  ASSERT_EQ(found.candidates.size(), 1u);
  EXPECT_EQ(found.candidates[0].improvement.spawn_context,
            trace.tasks[found.candidates[0].improvement.tasks[0].index()].spawn_context);
  std::string reasons;
  for (const Ineligible& one : found.ineligible) reasons += one.reason + "\n";
  EXPECT_THAT(reasons, testing::HasSubstr("handed to invokeAny"));
  EXPECT_THAT(reasons, testing::HasSubstr("handed to an ExecutorCompletionService"));
}

// main hands out t1, t2 and t3, of which the first two at one place, and waits for them in that order.
constexpr std::string_view kThree = R"(
0 main task_spawn t1 c1 p m2
1 main task_spawn t2 c1 p m2
2 main task_spawn t3 c2 p m3
0 w1 task_start t1
9 w1 task_end t1
3 w2 task_start t2
12 w2 task_end t2
12 w1 task_start t3
15 w1 task_end t3
3 main wait_begin t1 c3
9 main wait_end t1
10 main wait_begin t2 c3
12 main wait_end t2
12 main wait_begin t3 c4
15 main wait_end t3
)";

// Where nothing else runs meanwhile, convert-to-inline does the same.
TEST(TaskCandidates, AtTheirWaitRunTasksThatAreWaitedForPastOthers) {
  const Candidates all = task_candidates(parsed_with_rows(kThree));
  const auto found = of_kind(all, kinds::inline_at_wait);
  ASSERT_EQ(found.size(), 2u);
  EXPECT_THAT(found[0]->improvement.tasks, ElementsAre(TaskId(0), TaskId(1)));
  EXPECT_EQ(found[0]->runs_at, model::ContextId(2));
  EXPECT_THAT(found[1]->improvement.tasks, ElementsAre(TaskId(0)));  // the first of a batch of two
  EXPECT_EQ(found[1]->improvement.context_tasks, 2u);
  EXPECT_EQ(of_kind(all, kinds::convert_to_inline).size(), 2u);
  EXPECT_THAT(all.ineligible, IsEmpty());
}

// Threads that the program or a pool starts meanwhile are none of them.
TEST(TaskCandidates, AtTheirWaitOnlyPastTasks) {
  std::string text(kThree);
  text.replace(text.find("2 main task_spawn t3 c2 p m3"), 28, "2 main task_spawn t3 c2 - m3");
  const Candidates all = task_candidates(parsed_with_rows(text));
  const auto found = of_kind(all, kinds::inline_at_wait);
  EXPECT_TRUE(std::ranges::all_of(found, [](const Candidate* one) { return one->improvement.tasks.size() == 1; }));
  EXPECT_EQ(found.size(), 1u);
}

TEST(TaskCandidates, AtTheirWaitSaysWhyNot) {
  const auto changed = [](std::string_view old_line, std::string_view new_line) {
    std::string text(kThree);
    text.replace(text.find(old_line), old_line.size(), new_line);
    return task_candidates(parsed_with_rows(text));
  };
  const auto expect_part = [](const Candidates& all) {  // t1, alone of its place
    const auto part = of_kind(all, kinds::inline_at_wait);
    ASSERT_EQ(part.size(), 1u);
    EXPECT_THAT(part[0]->improvement.tasks, ElementsAre(TaskId(0)));
  };
  const Candidates unasked = changed("10 main wait_begin t2 c3\n12 main wait_end t2\n", "");
  EXPECT_THAT(reasons(unasked), ElementsAre("nobody waits for them: 1"));
  expect_part(unasked);
  const Candidates shared =
      changed("12 w1 task_start t3\n", "12 w1 task_start t3\n13 w1 wait_begin t2 c4\n14 w1 wait_end t2\n");
  EXPECT_THAT(reasons(shared), ElementsAre("not only their spawner waits for them: 1"));
  expect_part(shared);
}

TEST(TaskCandidates, NotAtTheWaitsOfInvokeAll) {
  const Candidates all = task_candidates(parsed_with_rows(R"(
method all java.util.concurrent.AbstractExecutorService.invokeAll AbstractExecutorService.java:240
context c5 c1 all:245
0 main task_spawn t1 c5 p m2
1 main task_spawn t2 c5 p m2
2 w1 task_start t1
9 w1 task_end t1
3 w2 task_start t2
12 w2 task_end t2
3 main wait_begin t1 c5
9 main wait_end t1
10 main wait_begin t2 c5
12 main wait_end t2
)"));
  EXPECT_THAT(of_kind(all, kinds::inline_at_wait), IsEmpty());
  EXPECT_THAT(reasons(all), ElementsAre(testing::HasSubstr("invokeAll")));
}

TEST(TaskCandidates, NotAtAWaitWithATimeLimit) {
  const std::string rows =
      "fact method.timed.3 yes\n"
      "method get java.util.concurrent.FutureTask.get FutureTask.java:199\n"
      "context c5 c3 get:205\n";
  std::string text(kThree);
  text.replace(text.find("wait_begin t1 c3"), 16, "wait_begin t1 c5");
  const Candidates timed = task_candidates(parsed_with_rows(rows + text));
  EXPECT_THAT(of_kind(timed, kinds::inline_at_wait), IsEmpty());
  EXPECT_THAT(reasons(timed), ElementsAre("waited for with a time limit, which nothing keeps where they run at the "
                                          "wait: 1"));
}

void check_candidates(const model::Trace& trace) {
  const BlockIndex index(trace);
  for (const Candidate& candidate : task_candidates(trace).candidates) {
    const whatif::Improvement& improvement = candidate.improvement;
    ASSERT_FALSE(improvement.tasks.empty());
    ASSERT_TRUE(std::is_sorted(improvement.tasks.begin(), improvement.tasks.end()));
    ASSERT_LE(improvement.tasks.size(), improvement.context_tasks);
    if (improvement.optimisation == kinds::hoist_branch) {
      ASSERT_LT(improvement.tasks.size(), improvement.context_tasks);
    }
    for (const model::TaskId task : improvement.tasks)
      ASSERT_EQ(trace.tasks[task.index()].kind, model::TaskKind::pooled);
    for (const Violation& violation : model_violations(index, improvement.tasks)) {
      ASSERT_LE(violation.tasks, violation.count);
      ASSERT_FALSE(violation.message.empty());
    }
  }
}

// Of random events.
TEST(TaskCandidates, OfDamagedTracesKeepTheirInvariants) {
  for (uint32_t seed = 1; seed <= 2000; ++seed) {
    SCOPED_TRACE(seed);
    ASSERT_NO_FATAL_FAILURE(check_candidates(model::random_trace(seed, 10 + seed % 200, seed > 1500)));
  }
}

}  // namespace
}  // namespace contrafact::improve
