#include "whatif/task_groups.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "whatif/sim_program.h"
#include "whatif/simulated_text_for_test.h"

namespace contrafact::whatif {
namespace {

using model::TaskId;
using model::Trace;
using testing::ElementsAre;

// Main hands out four tasks of 10 ms to two workers. Each hand-out takes 1 ms. Then it waits for all.
constexpr std::string_view kFour =

    "0 main task_spawn t1 c1 p m2\n1000000 main task_handed\n"
    "1000000 main task_spawn t2 c1 p m2\n2000000 main task_handed\n"
    "2000000 main task_spawn t3 c1 p m2\n3000000 main task_handed\n"
    "3000000 main task_spawn t4 c1 p m2\n4000000 main task_handed\n"
    "4000000 main wait_begin t1 c1\n10000000 main wait_end t1\n"
    "10000000 main wait_begin t2 c1\n11000000 main wait_end t2\n"
    "11000000 main wait_begin t3 c1\n20000000 main wait_end t3\n"
    "20000000 main wait_begin t4 c1\n21000000 main wait_end t4\n"
    "0 w1 worker_idle p\n0 w1 worker_busy p\n0 w1 task_start t1\n10000000 w1 task_complete t1\n10000000 w1 task_end "
    "t1\n"
    "10000000 w1 task_start t3\n20000000 w1 task_complete t3\n20000000 w1 task_end t3\n20000000 w1 worker_idle p\n"
    "1000000 w2 worker_idle p\n1000000 w2 worker_busy p\n1000000 w2 task_start t2\n11000000 w2 task_complete t2\n"
    "11000000 w2 task_end t2\n11000000 w2 task_start t4\n21000000 w2 task_complete t4\n21000000 w2 task_end t4\n"
    "21000000 w2 worker_idle p\n";

std::vector<TaskId> all_of(const Trace& trace) {
  std::vector<TaskId> tasks;
  for (uint32_t i = 0; i < trace.tasks.size(); ++i) tasks.emplace_back(i);
  return tasks;
}

Simulation merged(const Trace& trace, uint32_t size) {
  base::Result<Simulation> result = simulate(trace, {.merges = {{all_of(trace), size}}}, {.recorded_latencies = false});
  EXPECT_TRUE(result.ok()) << (result.ok() ? "" : result.error().message);
  return result.ok() ? std::move(*result) : Simulation();
}

TEST(TaskGroups, ARunIsCutIntoGroups) {
  const Trace trace = parsed(kFour);
  const model::Facts facts(trace);
  const SimProgram program = compile_program(facts, false);
  EXPECT_THAT(neighbours(program, all_of(trace)), ElementsAre(ElementsAre(0, 1, 2, 3)));
  const std::vector<TaskMerge> merges{{all_of(trace), 3}};
  const base::Result<TaskGroups> groups = task_groups(program, merges);
  ASSERT_TRUE(groups.ok());
  EXPECT_THAT(groups->begin, ElementsAre(0, 3));
  EXPECT_EQ(groups->last_of(0), 2u);
  EXPECT_FALSE(groups->has(3));  // what is left runs by itself
}

TEST(TaskGroups, AWaitBetweenTwoHandOutsEndsTheRun) {
  const Trace trace = parsed(
      "0 main task_spawn t1 c1 p m2\n0 main task_spawn t2 c1 p m2\n0 main wait_begin t1 c1\n5 main wait_end t1\n"
      "5 main task_spawn t3 c1 p m2\n5 main wait_begin t3 c1\n9 main wait_end t3\n"
      "0 w1 task_start t1\n5 w1 task_end t1\n5 w1 task_start t3\n9 w1 task_end t3\n"
      "0 w2 task_start t2\n5 w2 task_end t2\n");
  const model::Facts facts(trace);
  EXPECT_THAT(neighbours(compile_program(facts, false), all_of(trace)), ElementsAre(ElementsAre(0, 1)));
}

TEST(TaskGroups, UnchangedWithGroupsOfOne) {
  EXPECT_EQ(merged(parsed(kFour), 1).duration_ns, 21'000'000);
}

// The first two are handed out at once, as the second was, but 1 ms earlier: the first needs no hand-out of its own.
TEST(TaskGroups, MembersRunInTurnAndOneHandOutIsPaid) {
  const Simulation run = merged(parsed(kFour), 2);
  EXPECT_TRUE(run.stuck.empty());
  EXPECT_EQ(start_of(run.trace, 0), 0);
  EXPECT_EQ(start_of(run.trace, 1), 10'000'000);
  EXPECT_EQ(end_of(run.trace, 1), 20'000'000);
  EXPECT_EQ(start_of(run.trace, 2), 1'000'000);
  EXPECT_EQ(end_of(run.trace, 3), 21'000'000);
  EXPECT_EQ(run.duration_ns, 21'000'000);
}

TEST(TaskGroups, AllInOneAreDoneByOneWorker) {
  const Simulation run = merged(parsed(kFour), 4);
  EXPECT_TRUE(run.stuck.empty());
  EXPECT_EQ(run.duration_ns, 40'000'000);
}

// Who waits for the first member gets its result when the last has ended.
TEST(TaskGroups, ResultsComeTogether) {
  const Simulation run = merged(parsed(kFour), 2);
  int64_t first_wait_ends_ns = 0;
  for (uint32_t i = 0; i < run.trace.event_count() && first_wait_ends_ns == 0; ++i) {
    if (run.trace.kind[i] == model::EventKind::wait_end && run.trace.a[i] == 0)
      first_wait_ends_ns = run.trace.time_ns[i];
  }
  EXPECT_EQ(first_wait_ends_ns, 20'000'000);
}

// Two threads of 10 ms that main joins become one of 20.
TEST(TaskGroups, ThreadsAreMergedToo) {
  const Trace trace = parsed(
      "cpu main 0 10000000 blocked\n0 main task_spawn t1 c1 - m2\n0 main task_spawn t2 c1 - m2\n"
      "0 main wait_begin t1 c1\n10000000 main wait_end t1\n10000000 main wait_begin t2 c1\n10000000 main wait_end t2\n"
      "0 w1 thread_begin\n0 w1 task_start t1\n10000000 w1 task_end t1\n10000000 w1 thread_end\n"
      "0 w2 thread_begin\n0 w2 task_start t2\n10000000 w2 task_end t2\n10000000 w2 thread_end\n");
  const Simulation run = merged(trace, 2);
  EXPECT_TRUE(run.stuck.empty());
  EXPECT_EQ(run.duration_ns, 20'000'000);
}

TEST(TaskGroups, ATaskIsMergedInOneWayOnly) {
  const Trace trace = parsed(kFour);
  const base::Result<Simulation> result =
      simulate(trace, {.merges = {{all_of(trace), 2}, {all_of(trace), 4}}}, {.recorded_latencies = false});
  ASSERT_FALSE(result.ok());
  EXPECT_THAT(result.error().message, testing::HasSubstr("cannot be merged in two ways"));
}

}  // namespace
}  // namespace contrafact::whatif
