#include "analysis/granularity.h"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include "analysis/text_trace_for_test.h"

namespace contrafact::analysis {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using Reason = GranularityReason;
using Verdict = GranularityVerdict;

// Two cores; threads main, w1, w2; pool p; see kRows.
class OnTwoCores {
 public:
  explicit OnTwoCores(const std::string& events, const GranularityOptions& options = {})
      : trace_(parsed("fact cores 2\n" + std::string(kRows) + events)),
        facts_(trace_),
        result(granularity(facts_, options)) {}

  std::string rule(size_t i) const { return rule_text(result.classes[i], result.run, result.cores); }

 private:
  model::Trace trace_;
  model::Facts facts_;

 public:
  Granularity result;
};

// main hands out so many tasks at 0 and waits for the last one until `end`.
std::string handed_at_once(int tasks, int64_t end) {
  std::string text;
  for (int i = 1; i <= tasks; ++i) text += fmt::format("0 main task_spawn t{} c1 p m2\n", i);
  return text + fmt::format("0 main wait_begin t{0} c1\n{1} main wait_end t{0}\n", tasks, end);
}
std::string executed(std::string_view thread, int task, int64_t begin, int64_t end) {
  return fmt::format("{1} {0} task_start t{3}\n{2} {0} task_end t{3}\n", thread, begin, end, task);
}

TEST(Granularity, CoresInUseAndCheapTasksAreRight) {
  const OnTwoCores run(handed_at_once(4, 2000) + executed("w1", 1, 0, 1000) + executed("w1", 3, 1000, 2000) +
                       executed("w2", 2, 0, 1000) + executed("w2", 4, 1000, 2000));
  ASSERT_EQ(run.result.classes.size(), 1u);
  const ClassGranularity& c = run.result.classes[0];
  EXPECT_EQ(c.count, 4u);
  EXPECT_EQ(c.core.p50_ns, 1000);
  EXPECT_EQ(c.activity.active_ns, 2000);
  EXPECT_EQ(c.activity.waves, 1u);
  EXPECT_DOUBLE_EQ(c.activity.working_ns, 4000);
  EXPECT_DOUBLE_EQ(c.activity.used_ns, 4000);
  EXPECT_DOUBLE_EQ(c.activity.idle.all(), 0);
  EXPECT_EQ(c.judgement.verdict, Verdict::right);
  EXPECT_EQ(c.judgement.reason, Reason::busy);
  EXPECT_THAT(run.rule(0), HasSubstr("the cores are in use, 100 % of their time"));
}

TEST(Granularity, OneTaskForTwoCoresIsCoarse) {
  const OnTwoCores run(handed_at_once(1, 1000) + executed("w1", 1, 0, 1000));
  const ClassGranularity& c = run.result.classes[0];
  EXPECT_DOUBLE_EQ(c.activity.idle.few, 1000);
  EXPECT_DOUBLE_EQ(c.activity.idle.all(), 1000);
  EXPECT_EQ(c.judgement.verdict, Verdict::coarse);
  EXPECT_EQ(c.judgement.reason, Reason::few);
  EXPECT_DOUBLE_EQ(c.judgement.share, 0.5);
  EXPECT_THAT(run.rule(0),
              HasSubstr("50 % of the cores' time is idle while its tasks are active: one task in a wave, for 2 cores"));
}

TEST(Granularity, ThreeEqualTasksOnTwoCoresEndRaggedly) {
  const OnTwoCores run(handed_at_once(3, 2000) + executed("w1", 1, 0, 1000) + executed("w1", 3, 1000, 2000) +
                       executed("w2", 2, 0, 1000));
  const ClassGranularity& c = run.result.classes[0];
  EXPECT_DOUBLE_EQ(c.activity.idle.ragged, 1000);
  EXPECT_DOUBLE_EQ(c.activity.idle.all(), 1000);
  EXPECT_EQ(c.activity.tail_longest_ns, 1000);
  EXPECT_EQ(c.judgement.verdict, Verdict::coarse);
  EXPECT_EQ(c.judgement.reason, Reason::ragged);
}

TEST(Granularity, AStragglerIsUnbalanced) {
  std::string text = handed_at_once(6, 2000) + executed("w1", 1, 0, 2000);
  for (int i = 0; i < 5; ++i) text += executed("w2", i + 2, 100 * i, 100 * (i + 1));
  const OnTwoCores run(text);
  const ClassGranularity& c = run.result.classes[0];
  EXPECT_DOUBLE_EQ(c.activity.idle.straggler, 1500);
  EXPECT_EQ(c.activity.straggler_waves, 1u);
  EXPECT_EQ(c.judgement.verdict, Verdict::unbalanced);
  EXPECT_THAT(run.rule(0),
              HasSubstr("for up to 1.5 us with fewer tasks than cores, where the median task takes 100 ns"));
}

// Each task is done before the next one comes: without the spawner's waiting, that is one wave.
TEST(Granularity, TasksThatCostMoreThanTheyDoAreFine) {
  std::string text;
  for (int i = 0; i < 100; ++i) {
    text += fmt::format("{} main task_spawn t{} c1 p m2\n{} main task_handed\n", 100 * i, i, 100 * i + 80);
    text += executed("w1", i, 100 * i + 50, 100 * i + 60);
    text += fmt::format("{} w1 worker_idle p\n{} w1 worker_busy p\n", 100 * i + 60, 100 * i + 145);
  }
  const OnTwoCores run(text);
  const ClassGranularity& c = run.result.classes[0];
  EXPECT_EQ(c.activity.waves, 1u);
  EXPECT_EQ(c.cost.spawn_ns, 100 * 80);
  EXPECT_EQ(c.cost.take_ns, 99 * 5) << "from a worker's wake-up to the task";
  EXPECT_EQ(c.judgement.verdict, Verdict::fine);
  EXPECT_NEAR(c.judgement.share, (8000 + 99 * 5) / (2.0 * (99 * 100 + 60)), 1e-9);
  EXPECT_THAT(run.rule(0), HasSubstr("for each, beside 10 ns of work"));
  EXPECT_THAT(run.rule(0), testing::Not(HasSubstr("call it in place")));
}

// Handing out takes longer if the thread loses its core meanwhile, but costs no more.
TEST(Granularity, CostsAreTimesOnACore) {
  const OnTwoCores run(R"(
cpu main 1010 1070 preempted
cpu w1 1985 1990 preempted
1000 main task_spawn t1 c1 p m2
1080 main task_handed
1080 w1 task_start t1
1980 w1 task_complete t1
1980 w1 wake main
1995 w1 task_end t1
)");
  EXPECT_EQ(run.result.classes[0].cost.spawn_ns, 80 - 60);
  EXPECT_EQ(run.result.classes[0].cost.answer_ns, 15 - 5);
}

// The same, but the spawner waits for each: nothing to merge it with.
TEST(Granularity, FineTasksThatAreWaitedForOneByOneShouldBeCalled) {
  std::string text;
  for (int i = 0; i < 100; ++i) {
    text += fmt::format("{0} main task_spawn t{2} c1 p m2\n{1} main task_handed\n{1} main wait_begin t{2} c1\n",
                        100 * i, 100 * i + 50, i);
    text += fmt::format("{} main wait_end t{}\n", 100 * i + 70, i);
    text += executed("w1", i, 100 * i + 50, 100 * i + 60);
  }
  const OnTwoCores run(text);
  EXPECT_EQ(run.result.classes[0].activity.waves, 100u);
  EXPECT_EQ(run.result.classes[0].judgement.verdict, Verdict::fine);
  EXPECT_THAT(run.rule(0), HasSubstr("call it in place"));
}

// Whoever waits for a task goes on before the task's end.
TEST(Granularity, AWaveEndsWhenItsLastTaskIsComplete) {
  std::string text;
  for (int i = 0; i < 2; ++i) {
    const int at = 1000 * i;
    text += fmt::format("{0} main task_spawn t{1} c1 p m2\n{0} main wait_begin t{1} c1\n{2} main wait_end t{1}\n", at,
                        i, at + 990);
    text += fmt::format("{0} w{1} task_start t{2}\n{3} w{1} task_complete t{2}\n{4} w{1} task_end t{2}\n", at, i + 1, i,
                        at + 980, at + 1050);
  }
  const OnTwoCores run(text);
  EXPECT_EQ(run.result.classes[0].activity.waves, 2u);
  EXPECT_EQ(run.result.classes[0].activity.active_ns, 2 * 980);
  EXPECT_EQ(run.result.classes[0].judgement.reason, Reason::few);
}

// A thread that is ready for a core, and has none, says that other programs have the cores.
TEST(Granularity, CoresThatOtherProgramsHaveAreNotIdle) {
  const OnTwoCores run("cpu main 0 10000 blocked\ncpu w1 2000 8000 preempted\n" + handed_at_once(1, 10000) +
                       executed("w1", 1, 0, 10000));
  const ClassGranularity& c = run.result.classes[0];
  EXPECT_EQ(c.core.total_ns, 4000);
  EXPECT_DOUBLE_EQ(c.activity.used_ns, 4000);
  EXPECT_DOUBLE_EQ(c.activity.idle.few, 10000) << "the other core is idle all the time";
  EXPECT_DOUBLE_EQ(c.activity.idle.all(), 10000);
}

TEST(Granularity, BlockedThreadsDoNotWantMoreTasks) {
  std::string text = handed_at_once(2, 1000);
  for (int i = 1; i <= 2; ++i)
    text += fmt::format(
        "0 w{0} task_start t{0}\n100 w{0} block_begin monitor c4\n900 w{0} block_end monitor\n1000 w{0} task_end "
        "t{0}\n",
        i);
  const OnTwoCores run(text);
  const ClassGranularity& c = run.result.classes[0];
  EXPECT_DOUBLE_EQ(c.activity.idle.blocked, 1600);
  EXPECT_EQ(c.judgement.verdict, Verdict::right);
  EXPECT_EQ(c.judgement.reason, Reason::blocked);
  EXPECT_THAT(run.rule(0),
              HasSubstr("80 % of the cores' time is idle while its tasks are active because its threads are blocked"));
}

// The outer task waits for the inner one, which is the coarse one.
TEST(Granularity, TasksThatWaitForOthersAreRight) {
  const OnTwoCores run(R"(
0 main task_spawn t1 c1 p m2
0 main wait_begin t1 c1
0 w1 task_start t1
100 w1 task_spawn t2 c2 p m3
100 w1 wait_begin t2 c2
100 w2 task_start t2
900 w2 task_end t2
900 w1 wait_end t2
1000 w1 task_end t1
1000 main wait_end t1
)");
  ASSERT_EQ(run.result.classes.size(), 2u);
  EXPECT_EQ(run.result.classes[0].judgement.reason, Reason::few);
  const ClassGranularity& outer = run.result.classes[1];
  EXPECT_DOUBLE_EQ(outer.activity.idle.waits, 800);
  EXPECT_DOUBLE_EQ(outer.activity.idle.few, 200);
  EXPECT_EQ(outer.judgement.verdict, Verdict::right);
  EXPECT_EQ(outer.judgement.reason, Reason::waits);
}

TEST(Granularity, TasksThatWaitForAWorkerAreRight) {
  std::string text = handed_at_once(8, 8000);
  for (int i = 0; i < 8; ++i) text += executed("w1", i + 1, 1000 * i, 1000 * (i + 1));
  const OnTwoCores run(text);
  EXPECT_DOUBLE_EQ(run.result.classes[0].activity.idle.queued, 7000);
  EXPECT_DOUBLE_EQ(run.result.classes[0].activity.idle.ragged, 1000);
  EXPECT_EQ(run.result.classes[0].judgement.reason, Reason::queued);
}

// Each task hands out the next one.
TEST(Granularity, AChainIsRight) {
  std::string text = "0 main task_spawn t0 c1 p m2\n0 main wait_begin t0 c1\n10000 main wait_end t0\n";
  for (int i = 0; i < 10; ++i) {
    text += fmt::format("{0} w1 task_start t{1}\n{2} w1 task_spawn t{3} c1 p m2\n{2} w1 task_end t{1}\n", 1000 * i, i,
                        1000 * (i + 1), i + 1);
  }
  text += executed("w1", 10, 10000, 11000);
  const OnTwoCores run(text);
  EXPECT_EQ(run.result.classes[0].activity.waves, 1u);
  EXPECT_EQ(run.result.classes[0].judgement.verdict, Verdict::right);
  EXPECT_EQ(run.result.classes[0].judgement.reason, Reason::handed_out);
}

TEST(Granularity, WhatIsHardlyActiveIsRight) {
  const OnTwoCores run("0 main thread_begin\n" + std::string("100 main task_spawn t1 c1 p m2\n") +
                       executed("w1", 1, 100, 200) + "10000 main thread_end\n");
  EXPECT_EQ(run.result.classes[0].judgement.reason, Reason::seldom);
  EXPECT_DOUBLE_EQ(run.result.classes[0].judgement.share, 0.01);
}

// w1 is a thread of the program's own that executes tasks; w2 one that computes.
TEST(Granularity, ThreadsWhoseWorkIsOtherTasksHaveNoVerdict) {
  std::string text =
      "0 main task_spawn own c1 - m2\n0 main task_spawn t1 c2 p m3\n0 main task_spawn t2 c2 p m3\n"
      "0 w1 task_start own\n";
  text += executed("w1", 1, 100, 500) + executed("w1", 2, 500, 800) + "900 w1 task_end own\n";
  const OnTwoCores run(text);
  ASSERT_EQ(run.result.classes.size(), 2u);
  const ClassGranularity& own = run.result.classes[1];
  EXPECT_EQ(own.core.total_ns, 200);
  EXPECT_EQ(own.inner_core_ns, 700);
  EXPECT_EQ(own.judgement.verdict, Verdict::unknown);
  EXPECT_EQ(own.judgement.reason, Reason::runs_others);
}

TEST(Granularity, WithoutCoresThereIsNoVerdict) {
  const model::Trace trace = parsed_with_rows(handed_at_once(1, 1000) + executed("w1", 1, 0, 1000));
  const Granularity result = granularity(trace);
  EXPECT_EQ(result.cores, 0u);
  EXPECT_EQ(result.classes[0].judgement.verdict, Verdict::unknown);
  EXPECT_EQ(result.classes[0].core.total_ns, 1000);
}

// Switches of a pause, and parts of one absence, are not counted; what is outside of the class's activity is apart.
TEST(Granularity, SwitchesAndPausesWhileActive) {
  const OnTwoCores run(R"(
cpu main 50 900 blocked
cpu w1 2000 2100 preempted
cpu w1 2200 2300 blocked
cpu w1 2300 2350 preempted
cpu w1 3000 3500 blocked
pause 3000 3500
0 main thread_begin
1000 main task_spawn t1 c1 p m2
1000 w1 task_start t1
4000 w1 task_end t1
5000 main thread_end
)");
  const ClassGranularity& c = run.result.classes[0];
  EXPECT_EQ(c.core.total_ns, 3000 - 100 - 100 - 50 - 500);
  EXPECT_EQ(c.activity.active_ns, 2500);
  EXPECT_EQ(c.activity.preemptions, 1u);
  EXPECT_EQ(c.activity.blocks, 1u);
  EXPECT_EQ(c.activity.pauses, 1u);
  EXPECT_EQ(c.activity.paused_ns, 500);
  EXPECT_EQ(run.result.run.blocks, 2u);
  EXPECT_EQ(run.result.run.run_ns, 4500);
}

// The virtual machine's own threads use cores, too.
TEST(Granularity, CoresThatTheVirtualMachineUsesAreNotIdle) {
  const OnTwoCores run(
      "0 main task_spawn t1 c1 p m2\n0 main wait_begin t1 c1\n4000 main vm_ran 2\n10000 main wait_end t1\n" +
      executed("w1", 1, 0, 10000));
  EXPECT_DOUBLE_EQ(run.result.classes[0].activity.used_ns, 10000 + 2000);
  EXPECT_DOUBLE_EQ(run.result.classes[0].activity.idle.few, 8000);
}

TEST(Granularity, ClassesContextsAndCounts) {
  const OnTwoCores run(R"(
0 main task_create t1 c2
0 main task_spawn t1 c1 p m2
0 main task_create t2 c3
0 main task_spawn t2 c1 p m2
0 main task_spawn t3 c4 - m3
0 main task_spawn t4 c4 - m3
0 main task_drop t4
)" + executed("w1", 1, 0, 100) +
                       "100 w1 task_start t2\n300 w1 task_end t2 exception\n" + executed("w2", 3, 0, 500));
  ASSERT_EQ(run.result.classes.size(), 2u);
  const ClassGranularity &threads = run.result.classes[0], &tasks = run.result.classes[1];
  EXPECT_EQ(threads.kind, model::TaskKind::thread);
  EXPECT_EQ(threads.never, 1u);
  EXPECT_FALSE(threads.contexts.create_known);
  EXPECT_TRUE(tasks.contexts.create_known);
  EXPECT_TRUE(threads.contexts.one_create && threads.contexts.one_spawn && threads.contexts.made_where_spawned);
  EXPECT_EQ(tasks.exceptions, 1u);
  EXPECT_FALSE(tasks.contexts.one_create);
  EXPECT_TRUE(tasks.contexts.one_spawn);
  EXPECT_FALSE(tasks.contexts.made_where_spawned) << "Job.run made them, Main.main handed them out";
}

// Two ways to one line are one place, whatever numbers its method has; two lines are two.
TEST(Granularity, ALineThatSeveralCallsLeadToIsOnePlace) {
  const OnTwoCores run(R"(
method again shop.Job.run Job.java:1
context d1 c1 m2:9
context d2 c4 again:9
0 main task_spawn t1 d1 p m3
0 main task_spawn t2 d2 p m3
0 main task_spawn t3 c3 p m3
)" + executed("w1", 1, 0, 100) +
                       executed("w1", 2, 100, 200) + executed("w1", 3, 200, 300));
  ASSERT_EQ(run.result.classes.size(), 2u);
  EXPECT_EQ(run.result.classes[0].count, 2u);
  EXPECT_FALSE(run.result.classes[0].contexts.one_spawn);
  EXPECT_TRUE(run.result.classes[0].contexts.made_where_spawned);
}

TEST(Granularity, OutliersAndTheDistribution) {
  std::string text = handed_at_once(5, 20000);
  for (int i = 1; i <= 4; ++i) text += executed("w1", i, 100 * i, 100 * i + 10 * i);
  text += executed("w2", 5, 0, 10000);
  const OnTwoCores run(text);
  ASSERT_EQ(run.result.outliers.size(), 1u);
  EXPECT_EQ(run.result.outliers[0].task, model::TaskId(4));
  EXPECT_NEAR(run.result.outliers[0].times_median, 10000.0 / 30, 1e-9);
  EXPECT_EQ(run.result.classes[0].outliers, 1u);
  EXPECT_THAT(core_distribution(run.result, 0, 4), ElementsAre(10, 20, 30, 40, 10000));
}

TEST(Granularity, PartsOfTheRunForPictures) {
  const OnTwoCores run(
      "0 main thread_begin\n0 main block_begin sleep c1\n500 main block_end sleep\n500 main task_spawn t1 c1 p m2\n"
      "500 main wait_begin t1 c1\n1000 main wait_end t1\n1000 main thread_end\n" +
          executed("w1", 1, 500, 1000),
      {.bins = 4, .drawn = 1});
  ASSERT_EQ(run.result.bins.size(), 4u);
  EXPECT_DOUBLE_EQ(run.result.bins[0].used_ns, 0);
  EXPECT_DOUBLE_EQ(run.result.bins[2].used_ns, 250);
  ASSERT_EQ(run.result.active_shares.size(), 1u);
  EXPECT_THAT(run.result.active_shares[0], ElementsAre(0.F, 0.F, 1.F, 1.F));
}

}  // namespace
}  // namespace contrafact::analysis
