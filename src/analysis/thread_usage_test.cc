#include "analysis/thread_usage.h"

#include <gmock/gmock.h>

#include "analysis/text_trace_for_test.h"

namespace contrafact::analysis {
namespace {

using model::Trace;

// w1 runs an outer task from 100 to 900 that waits from 300 to 800 for an inner one, which w2 runs from 300 to 800 and
// in which it sleeps from 400 to 600. main spawns at 100 and waits from 200 to 900.
constexpr std::string_view kNested = R"(
0 w1 worker_idle p
0 w2 worker_idle p
100 main task_spawn t1 c1 p m2
200 main wait_begin t1 c1
100 w1 worker_busy p
100 w1 task_start t1
300 w1 task_spawn t2 c2 p m3
300 w1 wait_begin t2 c2
300 w2 worker_busy p
300 w2 task_start t2
400 w2 block_begin sleep c4
600 w2 block_end sleep
800 w2 task_end t2
800 w1 wait_end t2
900 w1 task_end t1
900 main wait_end t1
900 w1 worker_idle p
1000 w1 worker_busy p
1000 w1 thread_end
800 w2 worker_idle p
1000 w2 worker_busy p
1000 w2 thread_end
)";

TEST(ThreadUsage, StatesOfNestedTasks) {
  const ThreadUsage usage = thread_usage(parsed_with_rows(kNested));
  EXPECT_EQ(usage.window.begin_ns, 0);
  EXPECT_EQ(usage.window.end_ns, 1000);
  const auto at = [&](int64_t time_ns) {
    UsageStep found;
    for (const UsageStep& step : usage.steps) {
      if (step.time_ns <= time_ns) found = step;
    }
    return std::vector<uint32_t>{found.active, found.blocked, found.waiting, found.unoccupied};
  };
  using testing::ElementsAre;
  EXPECT_THAT(at(50), ElementsAre(0, 0, 0, 2));   // main's first event comes later
  EXPECT_THAT(at(150), ElementsAre(2, 0, 0, 1));  // main spawns, w1 works
  EXPECT_THAT(at(250), ElementsAre(1, 0, 1, 1));
  EXPECT_THAT(at(350), ElementsAre(1, 0, 2, 0));
  EXPECT_THAT(at(500), ElementsAre(1, 1, 2, 0));
  EXPECT_THAT(at(850), ElementsAre(1, 0, 1, 1));
  EXPECT_THAT(at(950), ElementsAre(1, 0, 0, 2));  // main goes on
}

TEST(ThreadUsage, Aggregates) {
  const ThreadUsage usage = thread_usage(parsed_with_rows(kNested));
  // Active: main 100 + 100, w1 200 + 100, w2 500. Waiting: main 700, w1 500. All over 1000.
  EXPECT_DOUBLE_EQ(usage.aggregates.active.mean, 1.0);
  EXPECT_DOUBLE_EQ(usage.aggregates.waiting.mean, 1.2);
  EXPECT_DOUBLE_EQ(usage.aggregates.blocked.mean, 0.2);
  EXPECT_DOUBLE_EQ(usage.aggregates.unoccupied.mean, 0.2 + 0.5);
  EXPECT_DOUBLE_EQ(usage.aggregates.occupied.mean, 2.2);
  EXPECT_EQ(usage.aggregates.occupied.peak, 3u);
  EXPECT_EQ(usage.aggregates.waiting.peak, 2u);
  // Occupied: 0 for 100, 1 for 100, 2 for 300, 3 for 500.
  EXPECT_EQ(usage.aggregates.occupied.p50, 2u);
  EXPECT_EQ(usage.aggregates.occupied.p90, 3u);
  ASSERT_EQ(usage.pools.size(), 1u);
  EXPECT_EQ(usage.pools[0].workers, 2u);
  EXPECT_EQ(usage.pools[0].aggregates.occupied.peak, 2u);
  EXPECT_DOUBLE_EQ(usage.pools[0].aggregates.occupied.mean, 1.3);
  EXPECT_THAT(usage.pools[0].occupied_ns, testing::ElementsAre(200, 300, 500));
}

TEST(ThreadUsage, TasksWindowLeavesOutTheIdleEnds) {
  const ThreadUsage usage = thread_usage(parsed_with_rows(kNested), {.window = ThreadUsageOptions::Window::tasks});
  EXPECT_EQ(usage.window.begin_ns, 100);
  EXPECT_EQ(usage.window.end_ns, 900);
  EXPECT_DOUBLE_EQ(usage.aggregates.active.mean, 900.0 / 800);
}

// The pool's thread starts with the first task and ends long after the last, when the pool is shut down.
TEST(ThreadUsage, TasksWindowLeavesOutAPoolsWorker) {
  const ThreadUsage usage = thread_usage(parsed(R"(thread main
thread w1
pool p thread_pool 1 1 "shop pool"
method m1 java.util.concurrent.ThreadPoolExecutor$Worker.run ThreadPoolExecutor.java:635
method m2 shop.Main.work Main.java:7
0 main thread_begin
90 main task_spawn t9 - - m1
95 w1 task_start t9
100 main task_spawn t1 - p m2
110 w1 task_start t1
300 w1 task_end t1
300 w1 worker_idle p
800 w1 worker_busy p
800 w1 task_end t9
900 main thread_end
)"),
                                         {.window = ThreadUsageOptions::Window::tasks});
  EXPECT_EQ(usage.window.begin_ns, 100);
  EXPECT_EQ(usage.window.end_ns, 300);
}

TEST(ThreadUsage, StepsIncreaseAndDiffer) {
  const ThreadUsage usage = thread_usage(parsed_with_rows(kNested));
  for (size_t i = 1; i < usage.steps.size(); ++i) EXPECT_LT(usage.steps[i - 1].time_ns, usage.steps[i].time_ns);
}

TEST(ThreadUsage, ProfileKeepsTheMean) {
  const ThreadUsage usage = thread_usage(parsed_with_rows(kNested));
  for (const size_t bins : {1u, 2u, 7u, 100u, 4096u}) {
    const std::vector<ProfileBin> profile = concurrency_profile(usage, bins);
    ASSERT_EQ(profile.size(), bins);
    double occupied = 0;
    for (const ProfileBin& bin : profile) occupied += bin.occupied;
    EXPECT_NEAR(occupied / static_cast<double>(bins), usage.aggregates.occupied.mean, 1e-9) << bins;
  }
  const std::vector<ProfileBin> tenths = concurrency_profile(usage, 10);
  EXPECT_NEAR(tenths[4].blocked, 1, 1e-9);
  EXPECT_NEAR(tenths[6].blocked, 0, 1e-9);
  EXPECT_DOUBLE_EQ(tenths[0].position, 0.05);
}

constexpr std::string_view kSpawnsAndSleeps = R"(
0 main thread_begin
100 main task_spawn t1 c1 p m2
200 main block_begin sleep c1
700 main block_end sleep
800 main wait_begin t1 c1
900 main wait_end t1
1000 main thread_end
100 w1 task_start t1
850 w1 task_end t1
)";

TEST(ThreadUsage, ProgramsOwnThreadsCountAllTheTime) {
  const ThreadUsage usage = thread_usage(parsed_with_rows(kSpawnsAndSleeps));
  EXPECT_DOUBLE_EQ(usage.aggregates.waiting.mean, 0.1);
  EXPECT_DOUBLE_EQ(usage.aggregates.active.mean, 0.9 + 0.75);
  EXPECT_DOUBLE_EQ(usage.aggregates.blocked.mean, 0.5);
}

TEST(ThreadUsage, VirtualThreadsAreTheProgramsOwnThoughDaemons) {
  std::string text(kRows);
  text.replace(text.find("thread main"), 11, "thread main \"main\" virtual_thread daemon");
  const ThreadUsage usage = thread_usage(parsed(text + std::string(kSpawnsAndSleeps)));
  EXPECT_DOUBLE_EQ(usage.aggregates.active.mean, 0.9 + 0.75);
}

// A daemon counts from its first dealing with tasks to its last, and not while it sleeps in between.
TEST(ThreadUsage, DaemonsCountWhileTheyDealWithTasks) {
  std::string text(kRows);
  text.replace(text.find("thread main"), 11, "thread main \"main\" platform daemon");
  const ThreadUsage usage = thread_usage(parsed(text + std::string(kSpawnsAndSleeps)));
  EXPECT_DOUBLE_EQ(usage.aggregates.waiting.mean, 0.1);
  // main: 100 to 200 and 700 to 800; w1: 100 to 850.
  EXPECT_DOUBLE_EQ(usage.aggregates.active.mean, 0.2 + 0.75);
}

// A thread that another one joins is a task: all of its run counts. So does the run of the program's own threads that
// none joins. A daemon that meets no task does not.
TEST(ThreadUsage, TheProgramsOwnThreadsCountAndBystandersDoNot) {
  const Trace trace = parsed_with_rows(R"(
thread joined
thread own
thread bystander daemon
0 main thread_begin
0 main task_spawn t1 c1
0 main task_spawn t2 c1
0 joined task_start t1
200 joined block_begin io c2
300 joined block_end io
500 joined task_end t1
0 own thread_begin
300 own task_start t2
1000 own task_end t2
1000 own thread_end
0 bystander thread_begin
1000 bystander thread_end
0 main wait_begin t1 c1
500 main wait_end t1
500 main thread_end
)");
  const std::vector<model::ThreadUse> uses = model::thread_uses(trace);
  EXPECT_EQ(uses[0].role, model::ThreadRole::own);
  EXPECT_EQ(uses[3].role, model::ThreadRole::joined);
  EXPECT_EQ(uses[4].role, model::ThreadRole::own);
  EXPECT_EQ(uses[5].role, model::ThreadRole::bystander);
  const ThreadUsage usage = thread_usage(trace);
  EXPECT_DOUBLE_EQ(usage.aggregates.active.mean, 0.5 + 0.7);
  EXPECT_DOUBLE_EQ(usage.aggregates.blocked.mean, 0.1);
  EXPECT_DOUBLE_EQ(usage.aggregates.total.mean, 0.5 + 0.5 + 0.7);
}

// The same work, as a task that runs where it was to be spawned (as in an estimate) and as a call (as in the changed
// program), alone or beside a thread that has tasks. The thread in which a virtual machine ends is not the program's.
TEST(ThreadUsage, WorkCountsAlikeAsTaskAndAsCall) {
  const std::string alone = R"(
thread cleaner daemon
thread last "DestroyJavaVM"
0 main thread_begin
200 main block_begin sleep c1
700 main block_end sleep
900 main thread_end
0 cleaner thread_begin
900 last thread_begin
1000 last thread_end
1000 cleaner thread_end
)";
  const std::string beside = alone + R"(
thread other
0 other task_spawn t9 c1 p m3
0 w1 worker_busy p
0 w1 task_start t9
1000 w1 task_end t9
1000 w1 thread_end
0 other wait_begin t9 c1
1000 other wait_end t9
)";
  for (const std::string& work : {alone, beside}) {
    std::string text = work;
    text.insert(text.find("900 main thread_end"), "800 main task_end t1\n");
    text.insert(text.find("200 main block_begin"), "100 main task_start t1\n");
    const ThreadUsage called = thread_usage(parsed_with_rows(work));
    const ThreadUsage inlined = thread_usage(parsed_with_rows(text));
    const double others = work == alone ? 0 : 2;
    EXPECT_DOUBLE_EQ(called.aggregates.occupied.mean, 0.9 + others);
    EXPECT_DOUBLE_EQ(inlined.aggregates.occupied.mean, 0.9 + others);
    EXPECT_DOUBLE_EQ(called.aggregates.blocked.mean, 0.5);
    EXPECT_DOUBLE_EQ(inlined.aggregates.blocked.mean, 0.5);
    EXPECT_EQ(called.aggregates.occupied.peak, inlined.aggregates.occupied.peak);
  }
}

// Shutdown hooks begin when the program is over: neither they nor the threads that start and join them are its threads.
TEST(ThreadUsage, ShutdownHooksAreNotTheProgramsThreads) {
  const ThreadUsage usage = thread_usage(parsed_with_rows(R"(
thread last "DestroyJavaVM"
thread hook
0 main task_spawn t1 c1 p m3
0 w1 worker_busy p
0 w1 task_start t1
1000 w1 task_end t1
1000 w1 thread_end
1000 main thread_end
1000 last thread_begin
1000 last task_spawn t2 c1 - m3
1000 last wait_begin t2 c1
1000 hook task_start t2
2000 hook task_complete t2
2000 hook task_end t2
2000 last wait_end t2
2000 last thread_end
)"),
                                         {ThreadUsageOptions::Window::tasks});
  EXPECT_EQ(usage.window.end_ns, 1000);
  EXPECT_DOUBLE_EQ(usage.aggregates.total.mean, 2);
}

// A fork-join worker that runs another task while it waits is active meanwhile, and the run of a worker's thread is no
// task.
TEST(ThreadUsage, HelpersAreActive) {
  const ThreadUsage usage = thread_usage(parsed(R"(
method m shop.Job.run
pool f fork_join 1 1
thread main daemon
thread w1
0 main task_spawn run - - -
0 main task_spawn t1 - f m
0 w1 task_start run
100 w1 task_start t1
200 w1 task_spawn t2 - f m
200 w1 wait_begin t2
300 w1 task_start t2
700 w1 task_end t2
800 w1 wait_end t2
900 w1 task_end t1
1000 w1 task_end run
1000 w1 thread_end
)"));
  EXPECT_DOUBLE_EQ(usage.aggregates.active.mean, 0.6);
  EXPECT_DOUBLE_EQ(usage.aggregates.waiting.mean, 0.2);
  EXPECT_DOUBLE_EQ(usage.aggregates.unoccupied.mean, 0.2);
}

TEST(ThreadUsage, EmptyTrace) {
  const ThreadUsage usage = thread_usage(Trace());
  EXPECT_EQ(usage.window.duration_ns(), 0);
  EXPECT_DOUBLE_EQ(usage.aggregates.total.mean, 0);
  EXPECT_EQ(concurrency_profile(usage, 3).size(), 3u);
}

}  // namespace
}  // namespace contrafact::analysis
