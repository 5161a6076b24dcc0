#include "model/requests.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "model/text_trace.h"

namespace contrafact::model {
namespace {

Trace parsed(const std::string& text) {
  base::Result<Trace> trace = parse_text(
      "method m1 shop.Job.run Job.java:1\npool p thread_pool 2 2\nthread loop\nthread w1\nthread w2\n"
      "connection c1 accepted 80 5001\nconnection c2 accepted 80 5002\nconnection db connected 5003 90\n" +
      text);
  EXPECT_TRUE(trace.ok()) << (trace.ok() ? "" : trace.error().message);
  return trace.ok() ? std::move(*trace) : Trace();
}

// A pool's task receives, asks a database, and answers in two pieces.
TEST(Requests, ATaskThatServesOneRequestIsItsRoot) {
  const Requests found = requests_by_connection(
      parsed("0 loop task_spawn t1 - p m1\n100 w1 task_start t1\n200 w1 receive c1 10\n300 w1 send db 5\n"
             "400 w1 receive db 9\n500 w1 send c1 20\n600 w1 send c1 30\n700 w1 task_end t1\n"));
  ASSERT_EQ(found.all.size(), 1u);
  EXPECT_EQ(found.connections, 1u);
  EXPECT_EQ(found.all[0].task, TaskId(0));
  EXPECT_EQ(found.all[0].arrived_ns, 0);
  EXPECT_EQ(found.all[0].answered_ns, 600);
  EXPECT_FALSE(found.all[0].first.exists());
  EXPECT_FALSE(found.all[0].second.exists());
}

// An event loop serves two connections in turn; between two polls it does nothing.
TEST(Requests, StretchesOfALoopEndWhereItPollsOrTheNextRequestBegins) {
  const Requests found = requests_by_connection(
      parsed("0 loop block_begin poll -\n1000 loop block_end poll\n1100 loop receive c1 10\n1500 loop send c1 10\n"
             "1600 loop receive c2 10\n1900 loop send c2 10\n2000 loop block_begin poll -\n9000 loop block_end poll\n"
             "9900 loop thread_end\n"));
  ASSERT_EQ(found.all.size(), 2u);
  EXPECT_EQ(found.all[0].first.begin_ns, 1000);
  EXPECT_EQ(found.all[0].first.end_ns, 1600);
  EXPECT_EQ(found.all[1].first.begin_ns, 1600);
  EXPECT_EQ(found.all[1].first.end_ns, 2000);
}

// Threads take turns to poll, and hand on what they find: a worker's own last poll says nothing of that.
TEST(Requests, WhatAnotherThreadFoundCameWhenItWasHandedOn) {
  const Requests found = requests_by_connection(parsed(
      "0 w1 task_start t1\n0 w1 block_begin poll -\n1000 w1 block_end poll\n1010 w1 receive c1 10\n1200 w1 send c1 10\n"
      "1300 w1 block_begin park -\n80000 w1 block_end park\n80010 w1 task_create t2 - m1\n80020 w1 task_start t2\n"
      "80030 w1 receive c2 10\n80100 w1 send c2 10\n80110 w1 task_end t2\n80120 w1 receive c1 10\n80200 w1 send c1 10\n"
      "90000 w1 task_end t1\n0 loop task_spawn t1 - p m1\n90000 loop thread_end\n"));
  ASSERT_EQ(found.all.size(), 3u);
  EXPECT_EQ(found.all[1].arrived_ns, 80020);
}

// A loop reads from all connections first and writes to all of them in the end: each request has its part of both.
TEST(Requests, ALoopMayAnswerAllBehindReadingAll) {
  const Requests found = requests_by_connection(
      parsed("0 loop block_begin poll -\n1000 loop block_end poll\n1100 loop receive c1 10\n1500 loop receive c2 10\n"
             "2000 loop send c1 10\n2100 loop send c2 10\n2300 loop block_begin poll -\n9000 loop block_end poll\n"
             "9900 loop thread_end\n"));
  ASSERT_EQ(found.all.size(), 2u);
  const Request &one = found.all[0], &other = found.all[1];
  EXPECT_EQ(one.first.begin_ns, 1000);
  EXPECT_EQ(one.first.end_ns, 1500);
  EXPECT_EQ(other.first.begin_ns, 1500);
  EXPECT_EQ(other.first.end_ns, 2000);
  EXPECT_EQ(one.second.begin_ns, 2000);
  EXPECT_EQ(other.second.end_ns, 2300);
  EXPECT_EQ(one.second.end_ns, other.second.begin_ns);
}

// A call that sends is a block if it takes long: if the thread stays on its core meanwhile, the loop's turn goes on.
TEST(Requests, CallsThatComputeAreNoSleeps) {
  const std::string text =
      "0 loop block_begin poll -\n10000 loop block_end poll\n11000 loop receive c1 10\n12000 loop send c1 10\n"
      "12000 loop block_begin io -\n20000 loop block_end io\n20000 loop block_begin io -\n26000 loop block_end io\n"
      "26000 loop receive c2 10\n27000 loop send c2 10\n28000 loop block_begin poll -\n90000 loop block_end poll\n"
      "99000 loop thread_end\n";
  const Requests computed = requests_by_connection(parsed("cpu loop 100 9000 blocked\n" + text));
  ASSERT_EQ(computed.all.size(), 2u);
  EXPECT_EQ(computed.all[0].answered_ns, 20000);
  EXPECT_EQ(computed.all[1].arrived_ns, 10000);
  EXPECT_EQ(computed.all[0].first.end_ns, 26000);
  EXPECT_EQ(computed.all[1].first.begin_ns, 26000);
  const Requests slept =
      requests_by_connection(parsed("cpu loop 100 9000 blocked\ncpu loop 21000 25000 blocked\n" + text));
  ASSERT_EQ(slept.all.size(), 2u);
  EXPECT_EQ(slept.all[1].first.begin_ns, 26000);
  EXPECT_EQ(slept.all[0].first.end_ns, 20000);
}

// A worker takes two requests from a queue without waiting between them.
TEST(Requests, WhoAnswersTwoInTurnHasAStretchForEach) {
  const Requests found = requests_by_connection(
      parsed("0 loop block_begin poll -\n1000 loop block_end poll\n1100 loop receive c1 10\n1500 loop receive c2 10\n"
             "1900 loop block_begin poll -\n9000 loop block_end poll\n9900 loop thread_end\n"
             "0 w1 block_begin park -\n1200 w1 block_end park\n3000 w1 send c1 10\n5000 w1 send c2 10\n"
             "5100 w1 block_begin park -\n9000 w1 block_end park\n9900 w1 thread_end\n"));
  ASSERT_EQ(found.all.size(), 2u);
  EXPECT_EQ(found.all[0].second.begin_ns, 1200);
  EXPECT_EQ(found.all[0].second.end_ns, found.all[1].second.begin_ns);
  EXPECT_LT(found.all[1].second.begin_ns, 5001);
  EXPECT_EQ(found.all[1].second.end_ns, 5100);
}

// What a loop finds when it looks without a wait had come while it was busy; where it waited, what came ended the wait.
TEST(Requests, WhatALoopFindsWithoutAWaitHadComeWhileItWasBusy) {
  const Requests found = requests_by_connection(
      parsed("0 loop block_begin poll -\n1000000 loop block_end poll\n1000000 loop receive c1 10\n"
             "1100000 loop block_begin sleep -\n5000000 loop block_end sleep\n5000000 loop send c1 10\n"
             "5000000 loop block_begin poll -\n5001000 loop block_end poll\n5002000 loop receive c2 10\n"
             "5100000 loop block_begin sleep -\n9000000 loop block_end sleep\n9000000 loop send c2 10\n"
             "9100000 loop thread_end\n"));
  ASSERT_EQ(found.all.size(), 2u);
  EXPECT_EQ(found.all[0].arrived_ns, 1'000'000);
  EXPECT_EQ(found.all[1].arrived_ns, 3'000'000);  // half-way between the looks
}

// The same where looks are not recorded: the kernel says where the loop slept.
TEST(Requests, ALoopThatDidNotSleepBetweenTwoRequestsFoundTheSecondThere) {
  const Requests found = requests_by_connection(
      parsed("cpu loop 0 1000000 blocked\ncpu loop 1100000 5000000 blocked\ncpu loop 5200000 9000000 blocked\n"
             "cpu loop 9100000 20000000 blocked\n0 loop thread_begin\n"
             "1000000 loop receive c1 10\n1100000 loop block_begin sleep -\n5000000 loop block_end sleep\n"
             "5000000 loop send c1 10\n5100000 loop receive c2 10\n5200000 loop block_begin sleep -\n"
             "9000000 loop block_end sleep\n9000000 loop send c2 10\n20100000 loop receive c1 10\n"
             "20200000 loop send c1 10\n20300000 loop thread_end\n"));
  ASSERT_EQ(found.all.size(), 3u);
  EXPECT_EQ(found.all[0].arrived_ns, 1'000'000);
  EXPECT_EQ(found.all[1].arrived_ns, 3'050'000);
  EXPECT_EQ(found.all[2].arrived_ns, 20'000'000);
}

// A call that receives took 30 us once, though what it got was there; it was recorded for that, as was one that waited. The last is not,
// and the thread slept in it.
TEST(Requests, OfCallsThatReceiveNotAllAreRecorded) {
  const Requests found = requests_by_connection(parsed(
      "cpu w1 0 990000 blocked\ncpu w1 2000000 5000000 blocked\ncpu w1 6000000 9000000 blocked\n0 w1 thread_begin\n"
      "1000000 w1 block_begin io -\n1030000 w1 block_end io\n1030000 w1 receive c1 10\n1900000 w1 send c1 10\n"
      "1990000 w1 block_begin io -\n5000000 w1 block_end io\n5000000 w1 receive c1 10\n5900000 w1 send c1 10\n"
      "9000000 w1 receive c1 10\n9900000 w1 send c1 10\n10000000 w1 thread_end\n"));
  ASSERT_EQ(found.all.size(), 3u);
  EXPECT_EQ(found.all[1].arrived_ns, 5'000'000);
  EXPECT_EQ(found.all[2].arrived_ns, 9'000'000);
}

TEST(Requests, SleepsThatTheKernelReportsAreNoWork) {
  const Requests found = requests_by_connection(
      parsed("cpu w1 200 1000 blocked\ncpu w1 3000 5000 blocked\n0 w1 thread_begin\n1100 w1 receive c1 10\n"
             "2000 w1 send c1 10\n6000 w1 thread_end\n"));
  ASSERT_EQ(found.all.size(), 1u);
  EXPECT_EQ(found.all[0].arrived_ns, 1000);
  EXPECT_EQ(found.all[0].first.end_ns, 3000);
}

// Two receives of one request, then two requests that come before the first answer ends.
TEST(Requests, ARequestLastsFromItsFirstBytesToTheLastOfItsAnswer) {
  const Requests found = requests_by_connection(
      parsed("100 w1 receive c1 10\n200 w1 receive c1 10\n300 w1 send c1 10\n400 w1 send c1 10\n"
             "500 w1 receive c1 10\n600 w1 send c1 1\n700 w1 receive c1 0\n800 w1 thread_end\n"));
  ASSERT_EQ(found.all.size(), 2u);
  EXPECT_EQ(found.all[0].answered_ns, 400);
  EXPECT_EQ(found.all[1].answered_ns, 600);
  EXPECT_EQ(found.unanswered, 0u);
}

// w1 works for a client and asks w2, which is in the same program; `main` asks w2, too, but works for nobody.
TEST(Requests, WhatARequestAsksOfItsOwnProgramIsAPartOfIt) {
  const Requests found = requests_by_connection(
      parsed("thread main\nconnection in accepted 90 6001\nconnection out connected 6001 90\n"
             "connection in2 accepted 90 6002\nconnection out2 connected 6002 90\n"
             "100 w1 receive c1 10\n200 w1 send out 5\n210 w1 block_begin io -\n900 w1 block_end io\n"
             "900 w1 receive out 7\n1000 w1 send c1 20\n"
             "0 w2 block_begin poll -\n250 w2 block_end poll\n250 w2 receive in 5\n800 w2 send in 7\n"
             "810 w2 block_begin poll -\n1510 w2 block_end poll\n1520 w2 receive in2 5\n1600 w2 send in2 7\n"
             "1610 w2 thread_end\n1500 main send out2 5\n1700 main receive out2 7\n"));
  ASSERT_EQ(found.all.size(), 2u);
  EXPECT_EQ(found.all[0].answered_ns, 1000);
  EXPECT_EQ(found.all[1].answered_ns, 1600);
  ASSERT_EQ(found.inner.size(), 1u);
  EXPECT_EQ(found.inner[0].arrived_ns, 250);
  EXPECT_EQ(found.inner[0].answered_ns, 800);
  EXPECT_NE(found.inner[0].asked, UINT32_MAX);
}

TEST(Requests, WhatIsNotAnsweredIsCounted) {
  const Requests found = requests_by_connection(
      parsed("100 w1 receive c1 10\n300 w1 send c1 10\n500 w1 receive c1 10\n700 w1 thread_end\n"));
  EXPECT_EQ(found.all.size(), 1u);
  EXPECT_EQ(found.unanswered, 1u);
}

// The loop reads, a worker takes the request from a queue of the program's own, and answers.
TEST(Requests, AnotherThreadThatAnswersHasTheSecondStretch) {
  const Requests found = requests_by_connection(parsed(
      "0 loop block_begin poll -\n1000 loop block_end poll\n1100 loop receive c1 10\n1200 loop block_begin poll -\n"
      "9000 loop block_end poll\n9900 loop thread_end\n"
      "0 w1 block_begin park -\n1300 w1 block_end park\n5000 w1 send c1 10\n5100 w1 block_begin park -\n"
      "9000 w1 block_end park\n9900 w1 thread_end\n"));
  ASSERT_EQ(found.all.size(), 1u);
  EXPECT_EQ(found.all[0].first.end_ns, 1200);
  ASSERT_TRUE(found.all[0].second.exists());
  EXPECT_EQ(found.all[0].second.begin_ns, 1300);
  EXPECT_EQ(found.all[0].second.end_ns, 5100);
}

// It sleeps while it works for the request: that is no wait for the next one.
TEST(Requests, TheSecondStretchBeginsWhereTheWaitForARequestEnds) {
  const Requests found = requests_by_connection(parsed(
      "0 loop block_begin poll -\n1000 loop block_end poll\n1100 loop receive c1 10\n1200 loop block_begin poll -\n"
      "9000 loop block_end poll\n9100 loop receive c2 10\n9200 loop block_begin poll -\n19000 loop block_end poll\n"
      "19900 loop thread_end\n"
      "0 w1 block_begin park -\n1300 w1 block_end park\n1400 w1 block_begin sleep -\n4400 w1 block_end sleep\n"
      "5000 w1 send c1 10\n5000 w1 block_begin io -\n5200 w1 block_end io\n5300 w1 block_begin park -\n"
      "9300 w1 block_end park\n9400 w1 block_begin sleep -\n12000 w1 block_end sleep\n13000 w1 send c2 10\n"
      "13100 w1 block_begin park -\n19000 w1 block_end park\n19900 w1 thread_end\n"));
  ASSERT_EQ(found.all.size(), 2u);
  EXPECT_EQ(found.all[0].second.begin_ns, 1300);
  EXPECT_EQ(found.all[0].second.end_ns, 5300);
  EXPECT_EQ(found.all[1].second.begin_ns, 9300);
  EXPECT_EQ(found.all[1].second.end_ns, 13100);
}

// The loop has a task of the first request still to run when it gets the second: that task takes it up.
TEST(Requests, APendingTaskMayTakeARequestUp) {
  const Requests found = requests_by_connection(parsed(
      "0 loop block_begin poll -\n1000 loop block_end poll\n1100 loop receive c1 10\n1200 loop task_spawn t1 - p m1\n"
      "1300 loop send c1 10\n1400 loop block_begin poll -\n3000 loop block_end poll\n3100 loop receive c1 10\n"
      "3200 loop task_start t2\n3300 loop task_spawn t3 - p m1\n3400 loop task_end t2\n"
      "3500 loop block_begin poll -\n9900 loop block_end poll\n9900 loop thread_end\n"
      "1250 w1 task_start t1\n1350 w1 task_spawn t2 - p m1\n1360 w1 task_end t1\n"
      "3600 w1 task_start t3\n4000 w1 send c1 10\n4100 w1 task_end t3\n"));
  ASSERT_EQ(found.all.size(), 2u);
  EXPECT_FALSE(found.all[0].then.valid());
  EXPECT_EQ(found.all[1].then, TaskId(1));
  EXPECT_FALSE(found.all[1].second.exists());
  EXPECT_EQ(found.all[1].first.end_ns, 3200);
}

TEST(Requests, ATaskThatTheFirstStretchHandsOutLeadsToTheAnswer) {
  const Requests found = requests_by_connection(parsed(
      "0 loop block_begin poll -\n1000 loop block_end poll\n1100 loop receive c1 10\n1150 loop task_spawn t1 - p m1\n"
      "1200 loop block_begin poll -\n9000 loop block_end poll\n9900 loop thread_end\n"
      "1300 w1 task_start t1\n5000 w1 send c1 10\n5100 w1 task_end t1\n"));
  ASSERT_EQ(found.all.size(), 1u);
  EXPECT_TRUE(found.all[0].first.exists());
  EXPECT_FALSE(found.all[0].second.exists());
}

// The next request is there when the first one's answer is sent: the thread does not wait for it.
TEST(Requests, ARequestThatIsThereAlreadyFollowsAtOnce) {
  const Requests found =
      requests_by_connection(parsed("0 w1 block_begin io -\n1000 w1 block_end io\n1000 w1 receive c1 10\n5000 w1 send "
                                    "c1 10\n5000 w1 block_begin io -\n"
                                    "5500 w1 block_end io\n5600 w1 receive c1 10\n8000 w1 send c1 10\n8000 w1 "
                                    "block_begin io -\n8500 w1 block_end io\n"
                                    "8600 w1 block_begin io -\n19000 w1 block_end io\n19900 w1 thread_end\n"));
  ASSERT_EQ(found.all.size(), 2u);
  const Stretch &one = found.all[0].first, &other = found.all[1].first;
  EXPECT_EQ(one.until, other.before);
  EXPECT_EQ(one.end_ns, 5600);
  EXPECT_EQ(other.begin_ns, 5600);
  EXPECT_EQ(other.end_ns, 8600);
}

TEST(Requests, WithoutConnectionsOutermostTasksStandForThem) {
  const Requests found = requests_by_task(
      parsed("0 loop task_spawn t1 - p m1\n100 w1 task_start t1\n200 w1 task_spawn t2 - p m1\n300 w2 task_start t2\n"
             "400 w2 task_end t2\n500 w1 task_end t1\n"));
  ASSERT_EQ(found.all.size(), 1u);
  EXPECT_EQ(found.all[0].task, TaskId(0));
  EXPECT_EQ(found.all[0].answered_ns, 500);
}

}  // namespace
}  // namespace contrafact::model
