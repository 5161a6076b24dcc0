#include "analysis/starvation.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "analysis/text_trace_for_test.h"

namespace contrafact::analysis {
namespace {

using testing::IsEmpty;
using testing::SizeIs;

std::string replaced(std::string text, std::string_view what, std::string_view by) {
  for (size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + by.size()))
    text.replace(at, what.size(), by);
  return text;
}

// Two requests in a pool of two, each of which hands a query to the same pool and waits for it. Nobody ever runs the
// queries.
constexpr std::string_view kRequests = R"(
method main shop.Main.main Main.java:1
method page shop.Page.make Page.java:1
method item shop.Item.load Item.java:1
context c_main - main:7
context c_page - page:21
context c_wait - page:25
pool shop thread_pool 2 2
thread main
thread w1
thread w2
0 main task_spawn t1 c_main shop page
10 main task_spawn t2 c_main shop page
20 main wait_begin t1 c_main
100 w1 task_start t1
200 w1 task_spawn q1 c_page shop item
300 w1 wait_begin q1 c_wait
100 w2 task_start t2
400 w2 task_spawn q2 c_page shop item
500 w2 wait_begin q2 c_wait
)";
constexpr std::string_view kKilled = "9000 main block_begin sleep c_main\n";

TEST(Starvation, AllWorkersWaitForWhatIsQueuedBehindThem) {
  const Starvations found = starvations(parsed(std::string(kRequests) + std::string(kKilled)));
  ASSERT_THAT(found.starved, SizeIs(1));
  const Starvation& starved = found.starved[0];
  EXPECT_THAT(starved.pools, testing::ElementsAre(model::PoolId(0)));
  EXPECT_EQ(starved.workers, 2u);
  EXPECT_EQ(starved.queued, 2u);
  EXPECT_EQ(starved.begin_ns, 500);
  EXPECT_EQ(starved.end_ns, 9000);
  EXPECT_EQ(starved.end, StarvationEnd::nothing);
  EXPECT_EQ(starved.times, 1u);
  ASSERT_THAT(starved.waits, SizeIs(1));
  EXPECT_EQ(starved.waits[0].workers, 2u);
  EXPECT_EQ(starved.waits[0].body, model::MethodId(1));
  EXPECT_EQ(starved.waits[0].awaited, model::MethodId(2));
  EXPECT_EQ(starved.waits[0].context, model::ContextId(2));
  EXPECT_THAT(found.risks, IsEmpty());
}

TEST(Starvation, ATimeOutEndsIt) {
  const Starvations found = starvations(parsed(std::string(kRequests) + R"(
5500 w1 wait_end q1 timeout
5600 w1 task_end t1
5700 w1 task_start q2
5800 w1 task_end q2
5900 w1 task_start q1
6000 w1 task_end q1
5900 w2 wait_end q2
6000 w2 task_end t2
6000 main wait_end t1
)"));
  ASSERT_THAT(found.starved, SizeIs(1));
  EXPECT_EQ(found.starved[0].begin_ns, 500);
  EXPECT_EQ(found.starved[0].end_ns, 5500);
  EXPECT_EQ(found.starved[0].end, StarvationEnd::time_out);
}

TEST(Starvation, OfSeveralTimesTheLongestIsReportedWithTheirNumber) {
  const Starvations found = starvations(parsed(std::string(kRequests) + R"(
700 w1 wait_end q1 interrupted
800 w1 wait_begin q1 c_wait
5800 w1 wait_end q1 timeout
)"));
  ASSERT_THAT(found.starved, SizeIs(1));
  EXPECT_EQ(found.starved[0].begin_ns, 800);
  EXPECT_EQ(found.starved[0].end, StarvationEnd::time_out);
  EXPECT_EQ(found.starved[0].times, 2u);
}

// One worker more runs the queries, one after the other.
constexpr std::string_view kThird = R"(
thread w3
600 w3 task_start q1
700 w3 task_end q1
750 w1 wait_end q1
800 w1 task_end t1
800 w3 task_start q2
900 w3 task_end q2
950 w2 wait_end q2
1000 w2 task_end t2
1000 main wait_end t1
)";

TEST(Starvation, AWorkerThatIsLeftMakesItARisk) {
  const std::string text = replaced(std::string(kRequests), "thread_pool 2 2", "thread_pool 3 3");
  const Starvations found = starvations(parsed(text + std::string(kThird)));
  EXPECT_THAT(found.starved, IsEmpty());
  ASSERT_THAT(found.risks, SizeIs(1));
  EXPECT_EQ(found.risks[0].size, 3u);
  EXPECT_EQ(found.risks[0].waiting, 2u);
  EXPECT_EQ(found.risks[0].at_ns, 500);
  EXPECT_EQ(found.risks[0].time_ns, 250);  // until w1 goes on: q2 is still in the queue
  EXPECT_EQ(found.risks[0].wait.awaited, model::MethodId(2));
}

TEST(Starvation, ManyWorkersThatAreLeftMakeItNone) {
  const std::string text = replaced(std::string(kRequests), "thread_pool 2 2", "thread_pool 9 9");
  const Starvations found = starvations(parsed(text + std::string(kThird)));
  EXPECT_THAT(found.starved, IsEmpty());
  EXPECT_THAT(found.risks, IsEmpty());
}

TEST(Starvation, PoolsThatGetAWorkerMoreDoNotStarve) {
  const std::string text = std::string(kRequests) + std::string(kKilled);
  for (std::string_view pool : {"fork_join 2 2", "thread_per_task 0 max", "thread_pool 0 max", "other 0 0"}) {
    const Starvations found = starvations(parsed(replaced(text, "thread_pool 2 2", pool)));
    EXPECT_THAT(found.starved, IsEmpty()) << pool;
    EXPECT_THAT(found.risks, IsEmpty()) << pool;
  }
}

// A FutureTask's get parks the worker of a fork-join pool without its knowledge.
TEST(Starvation, AForkJoinPoolDoesNotCompensateForAFutureTask) {
  const std::string text = std::string("method get java.util.concurrent.FutureTask.get FutureTask.java:190\n") +
                           replaced(std::string(kRequests), "thread_pool 2 2", "fork_join 2 2") + std::string(kKilled);
  const Starvations found = starvations(
      parsed(replaced(text, "context c_wait - page:25", "context c_get - page:25\ncontext c_wait c_get get:190")));
  EXPECT_THAT(found.starved, SizeIs(1));
}

// Each pool's workers wait for the other's.
TEST(Starvation, NestedPools) {
  const std::string other = replaced(std::string(kRequests), "pool shop thread_pool 2 2",
                                     "pool shop thread_pool 1 1\npool store thread_pool 1 1");
  std::string text = replaced(other, "t2 c_main shop page", "t2 c_main store page");
  text = replaced(text, "q1 c_page shop", "q1 c_page store");
  const Starvations found = starvations(parsed(text + std::string(kKilled)));
  ASSERT_THAT(found.starved, SizeIs(1));
  EXPECT_THAT(found.starved[0].pools, testing::ElementsAre(model::PoolId(0), model::PoolId(1)));
  EXPECT_EQ(found.starved[0].workers, 2u);
  EXPECT_EQ(found.starved[0].begin_ns, 500);
  EXPECT_THAT(found.starved[0].waits, SizeIs(2));
}

// The workers of `shop` wait for tasks that do not wait for theirs: the other pool is merely slow.
TEST(Starvation, WaitingForAnotherPoolIsNone) {
  std::string text = replaced(std::string(kRequests), "pool shop thread_pool 2 2",
                              "pool shop thread_pool 2 2\npool store thread_pool 1 1\nthread s1");
  text = replaced(replaced(text, "q1 c_page shop", "q1 c_page store"), "q2 c_page shop", "q2 c_page store");
  const Starvations found = starvations(parsed(text + "550 s1 task_start q1\n" + std::string(kKilled)));
  EXPECT_THAT(found.starved, IsEmpty());
  EXPECT_THAT(found.risks, IsEmpty());
}

// ... and where they do, through a pool without a bound, they are stuck as well.
TEST(Starvation, ThroughAPoolWithoutABound) {
  std::string text = replaced(std::string(kRequests), "pool shop thread_pool 2 2",
                              "pool shop thread_pool 2 2\npool cached thread_pool 0 max\nthread s1\nthread s2");
  text = replaced(replaced(text, "q1 c_page shop", "q1 c_page cached"), "q2 c_page shop", "q2 c_page cached");
  const Starvations found = starvations(parsed(text + R"(
550 s1 task_start q1
600 s1 task_spawn r1 c_page shop item
650 s1 wait_begin r1 c_wait
550 s2 task_start q2
600 s2 task_spawn r2 c_page shop item
700 s2 wait_begin r2 c_wait
)" + std::string(kKilled)));
  ASSERT_THAT(found.starved, SizeIs(1));
  EXPECT_THAT(found.starved[0].pools, testing::ElementsAre(model::PoolId(0)));
  EXPECT_EQ(found.starved[0].queued, 2u);
}

// Both wait for futures of several queued tasks: all of them, and whichever comes first.
TEST(Starvation, FuturesOfSeveralTasks) {
  std::string text =
      replaced(std::string(kRequests), "300 w1 wait_begin q1 c_wait",
               "250 w1 task_create both c_page\n250 w1 task_depends both q1\n250 w1 task_depends both q2\n"
               "300 w1 wait_begin both c_wait");
  EXPECT_THAT(starvations(parsed(text + std::string(kKilled))).starved, SizeIs(1));
  text = replaced(replaced(text, "both q1", "both q1 any"), "both q2", "both t0 any");
  text = replaced(text, "thread w2\n",
                  "thread w2\nthread other\n0 other task_spawn t0 c_main - item\n50 other task_start t0\n");
  EXPECT_THAT(starvations(parsed(text + std::string(kKilled))).starved, IsEmpty()) << "t0 runs";
}

// A thread whose result is there, but that has not woken up yet, does not wait.
TEST(Starvation, AResultThatIsThereIsWaitedForNoLonger) {
  const Starvations found = starvations(parsed(R"(
method page shop.Page.make Page.java:1
context c - page:21
pool shop thread_pool 2 2
thread main
thread w1
thread w2
0 main task_spawn t1 c shop page
0 main task_spawn t2 c shop page
100 w1 task_start t1
100 w2 task_start t2
150 w1 task_spawn q1 c shop page
160 w1 wait_begin t2 c
200 w2 task_spawn q2 c shop page
300 w2 task_complete t2
310 w2 wait_begin q2 c
390 w1 wait_end t2
400 w1 task_end t1
410 w1 task_start q1
420 w1 task_end q1
430 w1 task_start q2
440 w1 task_end q2
450 w2 wait_end q2
460 w2 task_end t2
)"));
  EXPECT_THAT(found.starved, IsEmpty());
}

}  // namespace
}  // namespace contrafact::analysis
