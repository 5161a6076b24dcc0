#include "analysis/permit_waits.h"

#include "analysis/text_trace_for_test.h"

namespace contrafact::analysis {
namespace {

std::vector<PermitWaits> waits_in(const std::string& events,
                                  const std::string& asks = "java.util.concurrent.Semaphore.acquire") {
  const model::Trace trace =
      parsed("method s " + asks + " Asked.java:1\nconnection n connected 0 5432\n" + std::string(kRows) +
             "context c9 c2 s:9\npool g permits 2 2 \"semaphore\"\nthread w3\n" +
             "0 main thread_begin\n0 w1 thread_begin\n0 w2 thread_begin\n0 w3 thread_begin\n" +
             "0 main task_spawn t1 c1 p m2\n0 main task_spawn t2 c1 p m2\n"
             "0 main task_spawn t3 c1 p m2\n0 w1 task_start t1\n0 w2 task_start t2\n"
             "0 w3 task_start t3\n" +
             events + "900 w1 task_end t1\n900 w2 task_end t2\n900 w3 task_end t3\n");
  return permit_waits(model::Facts(trace));
}

// The third thread waits for the first one's permit, with a break for another thread that was faster.
TEST(PermitWaits, AreTheTimeInWhichAnyThreadWaits) {
  const std::vector<PermitWaits> waits = waits_in(
      "10 w1 permit_take g 1\n20 w2 permit_take g 1\n30 w3 block_begin park c9\n130 w1 permit_give g 1\n"
      "130 w3 block_end park\n140 w3 block_begin park c9\n150 w3 block_end park\n150 w3 permit_take g 1\n"
      "160 w1 block_begin park c9\n160 w1 block_end park\n200 w2 permit_give g 1\n300 w3 permit_give g 1\n");
  ASSERT_EQ(waits.size(), 1u);
  EXPECT_EQ(waits[0].pool, model::PoolId(1));
  EXPECT_EQ(waits[0].permits, 2u);
  EXPECT_EQ(waits[0].waits, 2u);
  EXPECT_EQ(waits[0].waited_ns, 110);
}

TEST(PermitWaits, OfPermitsThatNobodyWaitsForAreNone) {
  const std::vector<PermitWaits> waits =
      waits_in("10 w1 permit_take g 2\n20 w1 block_begin park c2\n30 w1 block_end park\n40 w1 permit_give g 2\n");
  ASSERT_EQ(waits.size(), 1u);
  EXPECT_EQ(waits[0].waited_ns, 0);
}

// H2's pool sleeps until a connection is free, and the program looks whether it is still good.
TEST(PermitWaits, OfABoundedPoolMayBeSleeps) {
  const std::string events =
      "10 w1 permit_take g 1\n20 w2 permit_take g 1\n30 w3 block_begin sleep c9\n130 w1 permit_give g 1\n"
      "140 w3 block_end sleep\n150 w3 send n 20\n160 w3 receive n 5\n170 w3 permit_take g 1\n"
      "200 w2 permit_give g 1\n300 w3 permit_give g 1\n";
  const std::vector<PermitWaits> waits = waits_in(events, "org.h2.jdbcx.JdbcConnectionPool.getConnection");
  ASSERT_EQ(waits.size(), 1u);
  EXPECT_EQ(waits[0].waits, 1u);
  EXPECT_EQ(waits[0].waited_ns, 110);
  EXPECT_EQ(waits_in(events)[0].waits, 0u);  // sleeps elsewhere are for nothing but the time
}

// A thread that gives a permit that nobody took sends a signal.
TEST(PermitWaits, SignalsBoundNothing) {
  EXPECT_TRUE(waits_in("10 w1 permit_give g 1\n20 w2 permit_take g 1\n").empty());
}

}  // namespace
}  // namespace contrafact::analysis
