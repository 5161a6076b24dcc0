// How the simulation treats tasks that are handed out, results that are taken as they come, and permits.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <string>

#include "whatif/simulated_text_for_test.h"

namespace contrafact::whatif {
namespace {

using model::EventKind;
using model::Trace;

// Main takes results as they come, and computes for 10 ms with each: of a task of 30 ms, then of one of 10, for they
// had one worker. Two workers bring the second one's first.
TEST(SimulateHandOuts, ResultsAreTakenInTheOrderInWhichTheyCome) {
  const Trace trace = parsed(
      "cpu main 0 30000000 blocked\n"
      "0 main task_spawn t1 c1 p m2\n0 main task_spawn t2 c1 p m2\n0 main wait_begin - c1\n"
      "0 w1 worker_idle p\n0 w1 worker_busy p\n0 w1 task_start t1\n30000000 w1 task_complete t1\n"
      "30000000 w1 task_end t1\n30000000 w1 task_start t2\n40000000 w1 task_complete t2\n40000000 w1 task_end t2\n"
      "40000000 w1 worker_idle p\n"
      "30000000 main wait_end t1\n30000000 main wait_begin t1 c1\n30000000 main wait_end t1\n"
      "40000000 main wait_begin - c1\n40000000 main wait_end t2\n40000000 main wait_begin t2 c1\n"
      "40000000 main wait_end t2\n50000000 main thread_end\n");
  const model::PoolId pool(0);
  const SimulateOptions one{.cores = 4, .pool_sizes = {{pool, 1}}, .recorded_latencies = false};
  EXPECT_EQ(simulated(trace, one).duration_ns, 50'000'000);
  const SimulateOptions two{.cores = 4, .pool_sizes = {{pool, 2}}, .recorded_latencies = false};
  const Simulation result = simulated(trace, two);
  EXPECT_EQ(result.duration_ns, 40'000'000);
  std::vector<uint32_t> taken;
  for (uint32_t i = 0; i < result.trace.event_count(); ++i) {
    if (result.trace.kind[i] == model::EventKind::wait_end) taken.push_back(result.trace.a[i]);
  }
  EXPECT_THAT(taken, testing::ElementsAre(1, 1, 0, 0));
}

// t3 hands t4 out and ends. Its own worker takes t4 from the queue long before the idle one has woken up, which takes
// 500 us. From a cached pool t4 goes to the idle one.
TEST(SimulateHandOuts, WhoEndsItsTaskTakesWhatAnIdleWorkerWasWokenFor) {
  constexpr std::string_view kTasks = R"(
0 main task_spawn t1 c1 q m2
0 main task_spawn t2 c1 q m2
0 main wait_begin t1 c1
0 w1 task_start t1
100000 w1 task_end t1
100000 w1 worker_idle q
0 w2 task_start t2
100000 w2 task_end t2
100000 w2 worker_idle q
100000 main wait_end t1
1000000 main task_spawn t3 c1 q m2
1500000 w1 worker_busy q
1500000 w1 task_start t3
1590000 w1 task_spawn t4 c2 q m3
1600000 w1 task_end t3
1600000 w1 task_start t4
1700000 w1 task_end t4
1600000 main wait_begin t4 c1
1700000 main wait_end t4
)";
  EXPECT_EQ(end_of(simulated(parsed("pool q thread_pool 2 2" + std::string(kTasks))).trace, 3), 1'700'000);
  EXPECT_EQ(end_of(simulated(parsed("pool q thread_pool 0 max" + std::string(kTasks))).trace, 3), 2'190'000);
}

// An OpenMP region of two threads: t1 is main's part of it, t2 the other thread's, which comes to the barrier t7 at once.
// Main makes t3 to t6 there, of 10 ms each, and comes to the barrier, too. In the recording it ran all of them; t8 and t9
// are the arrivals.
constexpr std::string_view kBarrierWithTasks = R"(fact agent native
pool o fork_join 1 1
0 main task_spawn t2 c1 o m2
0 main task_spawn t1 c1 o m2
0 main wait_begin t1 c1
0 main task_start t1
0 main task_spawn t3 c2 o m3
0 main task_depends t7 t3 all
0 main task_spawn t4 c2 o m3
0 main task_depends t7 t4 all
0 main task_spawn t5 c2 o m3
0 main task_depends t7 t5 all
0 main task_spawn t6 c2 o m3
0 main task_depends t7 t6 all
0 main task_depends t7 t9 all
0 main task_complete t9
0 main wait_begin t7 c1
0 main task_start t3
10000000 main task_end t3
10000000 main task_start t4
20000000 main task_end t4
20000000 main task_start t5
30000000 main task_end t5
30000000 main task_start t6
40000000 main task_end t6
40000000 main task_complete t7
40000000 main wait_end t7
40000000 main task_end t1
40000000 main wait_end t1
40000000 main wait_begin t2 c1
0 w1 worker_idle o
0 w1 worker_busy o
0 w1 task_start t2
0 w1 task_depends t7 t8 all
0 w1 task_complete t8
0 w1 wait_begin t7 c1
40000000 w1 wait_end t7
40000000 w1 task_end t2
40000000 w1 worker_idle o
40000000 main wait_end t2
40000000 main thread_end
)";

TEST(SimulateHandOuts, ThreadsAtABarrierRunTheTasksThatItWaitsFor) {
  const Trace trace = parsed(kBarrierWithTasks);
  const SimulateOptions options{.cores = 2, .recorded_latencies = false};
  const Simulation result = simulated(trace, options);
  EXPECT_EQ(result.duration_ns, 20'000'000);
  std::map<uint32_t, int> run_by;
  for (uint32_t task = 2; task < 6; ++task) ++run_by[result.trace.thread_of(result.trace.tasks[task].start).value];
  EXPECT_THAT(run_by, testing::ElementsAre(testing::Pair(0, 2), testing::Pair(testing::_, 2)));
  const SimulateOptions one_core{.cores = 1, .recorded_latencies = false};
  EXPECT_EQ(simulated(trace, one_core).duration_ns, 40'000'000);
}

// t1 makes t2 and waits for it (t4). The other thread runs t2, which after 10 ms makes t5 and t7, of 20 ms each, and
// waits for both (t6). In the recording it ran them one after the other; main, whose task they lie below, could have run
// one of them meanwhile.
constexpr std::string_view kNestedTasks = R"(fact agent native
pool o fork_join 1 1
0 main task_spawn t8 c1 o m2
0 main task_spawn t1 c1 o m2
0 main wait_begin t1 c1
0 main task_start t1
0 main task_spawn t2 c2 o m3
0 main task_depends t4 t2 all
0 main wait_begin t4 c1
50000000 main task_complete t4
50000000 main wait_end t4
50000000 main task_end t1
50000000 main wait_end t1
50000000 main wait_begin t8 c1
0 w1 worker_idle o
0 w1 worker_busy o
0 w1 task_start t8
0 w1 task_end t8
0 w1 task_start t2
10000000 w1 task_spawn t5 c2 o m3
10000000 w1 task_depends t6 t5 all
10000000 w1 task_spawn t7 c2 o m3
10000000 w1 task_depends t6 t7 all
10000000 w1 wait_begin t6 c2
10000000 w1 task_start t7
30000000 w1 task_end t7
30000000 w1 task_start t5
50000000 w1 task_end t5
50000000 w1 task_complete t6
50000000 w1 wait_end t6
50000000 w1 task_end t2
50000000 w1 worker_idle o
50000000 main wait_end t8
50000000 main thread_end
)";

TEST(SimulateHandOuts, AThreadThatWaitsIsCalledForTasksBelowItsOwn) {
  const SimulateOptions options{.cores = 2, .recorded_latencies = false};
  EXPECT_EQ(simulated(parsed(kNestedTasks), options).duration_ns, 30'000'000);
}

// Main waits for a permit twice, at one place: t1 gives one after 30 ms, t2, on the same worker, after 40. With two
// workers t2 gives the first.
std::string two_permits(std::string_view type) {
  return "method s1 java.util.concurrent." + std::string(type) + ".acquire S.java:1\ncontext s c1 s1:9\n" +
         "cpu main 0 30000000 blocked\n"
         "0 main task_spawn t1 c1 p m2\n0 main task_spawn t2 c1 p m2\n0 main block_begin park s\n"
         "0 w1 task_start t1\n30000000 w1 wake main\n30000000 w1 task_end t1\n"
         "30000000 w1 task_start t2\n40000000 w1 wake main\n40000000 w1 task_end t2\n"
         "30000000 main block_end park\n40000000 main block_begin park s\n40000000 main block_end park\n"
         "50000000 main thread_end\n";
}

TEST(SimulateHandOuts, AnyPermitEndsTheFirstWaitForOne) {
  const auto simulated_ms = [](std::string_view type, uint32_t workers) {
    const SimulateOptions options{.cores = 4, .pool_sizes = {{model::PoolId(0), workers}}, .recorded_latencies = false};
    return simulated(parsed(two_permits(type)), options).duration_ns / 1'000'000;
  };
  EXPECT_EQ(simulated_ms("Semaphore", 1), 50);
  // t2's at 10, 10 ms of main's, t1's at 30, and 10 ms of main's.
  EXPECT_EQ(simulated_ms("Semaphore", 2), 40);
  EXPECT_EQ(simulated_ms("ArrayBlockingQueue", 2), 40);
  // At a latch no other thread's wake will do: main waits for t1, as recorded.
  EXPECT_EQ(simulated_ms("CountDownLatch", 2), 50);
}

// Handing a task out takes 400, in which its thread waits for the queue's lock for 100, and is preempted for 100. The
// program computes for 300 before it waits, and shuts the pool down in 200.
constexpr std::string_view kHanded = R"(
cpu main 150 250 blocked
cpu main 300 400 preempted
0 main task_spawn t1 c1 p m2
150 main block_begin park c1
250 main block_end park
400 main task_handed
700 main wait_begin t1 c1
1500 main wait_end t1
1600 main pool_close p
1800 main pool_closed p
2000 main thread_end
450 w1 task_start t1
1450 w1 task_end t1
)";

TEST(SimulateHandOuts, ACalledTaskIsNotHandedOut) {
  const Trace trace = parsed(kHanded);
  const Simulation base = simulated(trace, {.cores = 2});
  EXPECT_EQ(base.duration_ns, 2000);
  // 1000 of the task and 300 until the wait; 100 after it, and 200 after the shutting down of a pool without workers.
  const Simulation called = simulated(trace, {.cores = 2}, {Treatment::inline_at_spawn});
  EXPECT_EQ(called.duration_ns, 1000 + 300 + 100 + 200);
  for (const EventKind kind : called.trace.kind) {
    EXPECT_TRUE(kind != EventKind::task_handed && kind != EventKind::pool_close && kind != EventKind::pool_closed);
  }
}

// Two permits. Each of four tasks sleeps for 100, has a permit for 300, of which it sleeps 200, and is done. Two
// workers never wait for one.
constexpr std::string_view kPermits = R"(
pool g permits 2 2
0 main task_spawn t1 c1 p m2
0 main task_spawn t2 c1 p m2
0 main task_spawn t3 c1 p m2
0 main task_spawn t4 c1 p m2
0 w1 task_start t1
0 w1 block_begin sleep c2
100 w1 block_end sleep
100 w1 permit_take g 1
100 w1 block_begin sleep c2
400 w1 block_end sleep
400 w1 permit_give g 1
400 w1 task_end t1
400 w1 task_start t3
400 w1 block_begin sleep c2
500 w1 block_end sleep
500 w1 permit_take g 1
500 w1 block_begin sleep c2
800 w1 block_end sleep
800 w1 permit_give g 1
800 w1 task_end t3
0 w2 task_start t2
0 w2 block_begin sleep c2
100 w2 block_end sleep
100 w2 permit_take g 1
100 w2 block_begin sleep c2
400 w2 block_end sleep
400 w2 permit_give g 1
400 w2 task_end t2
400 w2 task_start t4
400 w2 block_begin sleep c2
500 w2 block_end sleep
500 w2 permit_take g 1
500 w2 block_begin sleep c2
800 w2 block_end sleep
800 w2 permit_give g 1
800 w2 task_end t4
)";

TEST(SimulateHandOuts, MoreWorkersWaitForPermitsThatTheRecordedOnesAlwaysHad) {
  const Trace trace = parsed(kPermits);
  EXPECT_EQ(simulated(trace, {.cores = 4}).duration_ns, 800);
  // All sleep at once; then two at a time have a permit.
  const SimulateOptions four{.cores = 4, .pool_sizes = {{model::PoolId(0), 4}}};
  EXPECT_EQ(simulated(trace, four).duration_ns, 700);
  const SimulateOptions and_permits{.cores = 4, .pool_sizes = {{model::PoolId(0), 4}, {model::PoolId(3), 4}}};
  EXPECT_EQ(simulated(trace, and_permits).duration_ns, 400);
}

// t1 takes both permits, one after the other, and hands out t2 and t3 when it has given them back; each of these has one for 100.
TEST(SimulateHandOuts, WhoGoesOnWithoutAPermitGivesNoFurtherOne) {
  const Trace trace = parsed(R"(
pool g permits 2 2
0 main task_spawn t1 c1 p m2
0 w1 task_start t1
0 w1 permit_take g 1
0 w1 permit_take g 1
0 w1 block_begin sleep c2
100 w1 block_end sleep
100 w1 permit_give g 2
100 w1 task_spawn t2 c1 p m2
100 w1 task_spawn t3 c1 p m2
100 w1 task_end t1
100 w1 task_start t2
100 w1 permit_take g 1
100 w1 block_begin sleep c2
200 w1 block_end sleep
200 w1 permit_give g 1
200 w1 task_end t2
100 w2 task_start t3
100 w2 permit_take g 1
100 w2 block_begin sleep c2
200 w2 block_end sleep
200 w2 permit_give g 1
200 w2 task_end t3
)");
  EXPECT_EQ(simulated(trace, {.cores = 4}).duration_ns, 200);
  const Simulation one = simulated(trace, {.cores = 4, .pool_sizes = {{model::PoolId(3), 1}}});
  EXPECT_EQ(one.duration_ns, 300);
  EXPECT_THAT(one.notes, testing::Contains(testing::HasSubstr("without the permits")));
}

// t2 waited for t1's connection, sleeping again and again, and then asked the database whether it is still good.
TEST(SimulateHandOuts, AWaitForAPoolsConnectionEndsWhenOneIsGivenBack) {
  const auto run = [](std::string_view asks, std::vector<whatif::PoolSize> sizes) {
    const Trace trace = parsed("method m9 " + std::string(asks) + R"( Asked.java:1
pool g permits 1 1
connection n connected 0 5432
context c9 c2 m9:3
0 main task_spawn t1 c1 p m2
0 main task_spawn t2 c1 p m2
0 w1 task_start t1
100 w1 permit_take g 1
600 w1 permit_give g 1
700 w1 task_end t1
0 w2 task_start t2
200 w2 block_begin sleep c9
400 w2 block_end sleep
400 w2 block_begin sleep c9
600 w2 block_end sleep
600 w2 send n 20
600 w2 receive n 8
600 w2 permit_take g 1
700 w2 permit_give g 1
700 w2 task_end t2
)");
    return simulated(trace, {.cores = 2, .pool_sizes = std::move(sizes)}).duration_ns;
  };
  EXPECT_EQ(run("org.h2.jdbcx.JdbcConnectionPool.getConnection", {}), 700);
  EXPECT_EQ(run("org.h2.jdbcx.JdbcConnectionPool.getConnection", {{model::PoolId(3), 2}, {model::PoolId(0), 1}}), 1000);
  EXPECT_EQ(run("shop.Orders.retry", {{model::PoolId(3), 2}, {model::PoolId(0), 1}}), 1400);  // it sleeps all the same
}

TEST(SimulateHandOuts, AWaitForAPermitEndsWhenOneIsGiven) {
  // t2 waited for t1's permit; with t1's task on the same thread it has nothing to wait for.
  const Trace trace = parsed(R"(
pool g permits 1 1
method m9 java.util.concurrent.Semaphore.acquire Semaphore.java:1
context c9 c2 m9:3
0 main task_spawn t1 c1 p m2
0 main task_spawn t2 c1 p m2
0 w1 task_start t1
100 w1 permit_take g 1
600 w1 permit_give g 1
600 w1 wake w2
700 w1 task_end t1
0 w2 task_start t2
200 w2 block_begin park c9
600 w2 block_end park
600 w2 permit_take g 1
700 w2 permit_give g 1
700 w2 task_end t2
)");
  EXPECT_EQ(simulated(trace, {.cores = 2}).duration_ns, 700);
  const SimulateOptions two{.cores = 2, .pool_sizes = {{model::PoolId(3), 2}}};
  EXPECT_EQ(end_of(simulated(trace, two).trace, 1), 300);
}

// A hundred tasks of 100 us each, one after the other; the first `waiting` of them sleep for a millisecond besides,
// where no event says what for, and the virtual machine has both cores.
Trace with_vm_waits(int waiting) {
  std::string text, spawns, tasks;
  int64_t at_us = 0;
  for (int i = 1; i <= 100; ++i) {
    spawns += fmt::format("0 main task_spawn t{} c1 p m2\n", i);
    tasks += fmt::format("{} w1 task_start t{}\n", at_us * 1000, i);
    if (i <= waiting) {
      const int64_t end_us = at_us + 1000;
      text += fmt::format("cpu w1 {} {} blocked\n", at_us * 1000, end_us * 1000);
      for (int core = 0; core < 2; ++core) text += fmt::format("vm_ran {} {}\n", at_us * 1000, end_us * 1000);
      at_us = end_us;
    }
    at_us += 100;
    tasks += fmt::format("{} w1 task_end t{}\n", at_us * 1000, i);
  }
  text += fmt::format("cpu main 0 {} blocked\n", at_us * 1000);
  return parsed(text + spawns + "0 main wait_begin t100 c1\n" + tasks +
                fmt::format("{} main wait_end t100\n", at_us * 1000));
}

TEST(SimulateHandOuts, AWaitThatOneTaskOfManyHadWithinTheVirtualMachineGoesWhereItIsCalled) {
  const std::vector<Treatment> called(100, Treatment::inline_at_spawn);
  const Trace once = with_vm_waits(1);
  const SimulateOptions one_worker{.pool_sizes = {{model::PoolId(0), 1}}};
  EXPECT_NEAR(static_cast<double>(simulated(once, one_worker).duration_ns), 11e6, 1e3);
  const Simulation calls = simulated(once, {}, called);
  EXPECT_NEAR(static_cast<double>(calls.duration_ns), 10e6, 1e3);
  EXPECT_EQ(calls.spared_waits_ns, 1'000'000);
  // More of them do it: it is what the tasks do.
  EXPECT_NEAR(static_cast<double>(simulated(with_vm_waits(2), {}, called).duration_ns), 12e6, 1e3);
}

}  // namespace
}  // namespace contrafact::whatif
