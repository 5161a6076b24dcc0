// How each kind of event is simulated: kernel gaps, wakes, stages, delays, threads, cut-off runs.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "whatif/simulated_text_for_test.h"

namespace contrafact::whatif {
namespace {

using model::EventKind;
using model::Trace;

// Two tasks of 1000 ns each on one worker each, as the kernel saw them: t1 was preempted for 300 and blocked for 200.
constexpr std::string_view kGaps = R"(
cpu w1 100 400 preempted
cpu w1 500 700 blocked
0 main task_spawn t1 c1 p m2
0 main task_spawn t2 c1 p m2
0 w1 task_start t1
1000 w1 task_end t1
0 w2 task_start t2
1000 w2 task_end t2
0 main wait_begin t1 c1
1000 main wait_end t1
1000 main wait_begin t2 c1
1000 main wait_end t2
)";

TEST(SimulateEvents, KernelGapsSplitCpuFromBlocking) {
  const Trace trace = parsed(kGaps);
  const Simulation two = simulated(trace, {.cores = 2});
  EXPECT_EQ(two.cpu_ns, 500 + 1000);
  // The preemption, shorter than any by others, is gone; the blocking is kept.
  EXPECT_EQ(end_of(two.trace, 0), 700);
  EXPECT_EQ(end_of(two.trace, 1), 1000);
  // On one core they share: t1's first 200 take 400; t2 is alone during t1's pause of 200 and has then 600 left; t1's
  // last 300 take 600, t2's last 300 run alone.
  const Simulation one = simulated(trace, {.cores = 1});
  EXPECT_EQ(end_of(one.trace, 0), 1200);
  EXPECT_EQ(end_of(one.trace, 1), 1500);
}

// A task was preempted for 300 of 1000 us, and another task had one of the two cores. The other core was used by others
// than the program's tasks, the JVM's compiler, say, and would be again.
TEST(SimulateEvents, CoresThatOthersHadAreGone) {
  constexpr std::string_view kTasks = R"(
cpu w1 100000 400000 preempted
0 main task_spawn t1 c1 p m2
0 main task_spawn t2 c1 p m2
0 w1 task_start t1
1000000 w1 task_end t1
0 w2 task_start t2
1000000 w2 task_end t2
)";
  EXPECT_EQ(end_of(simulated(parsed(kTasks)).trace, 0), 1'000'000);
  // Another task's thread came onto that core.
  EXPECT_EQ(end_of(simulated(parsed("cpu w2 0 100500 blocked" + std::string(kTasks))).trace, 0), 700'000);
}

// Killed while main slept: the run lasted until then, whichever thread ended before.
TEST(SimulateEvents, MainThatWasCutOffLastsAsLongAsItRan) {
  const Trace trace = parsed(
      "fact agent native\n0 main thread_begin\n100 w1 thread_begin\n300 w1 thread_end\n"
      "500 main block_begin sleep -\n2000 main block_end sleep\n");
  EXPECT_EQ(simulated(trace).duration_ns, 2000);
}

// Four tasks on two cores, all running for 2000 ns: each had 1000 ns of CPU. What comes out is what went in.
TEST(SimulateEvents, CrowdedRecordingsAreSharedOut) {
  std::string text = "pool q thread_pool 4 4\n";
  for (const char* number : {"1", "2", "3", "4"}) {
    const std::string task = std::string("t") + number, worker = std::string("v") + number;
    text += "thread " + worker + "\n0 main task_spawn " + task + " c1 q m2\n";
    text += "0 " + worker + " task_start " + task + "\n2000 " + worker + " task_end " + task + "\n";
  }
  const Trace trace = parsed(text);
  EXPECT_EQ(simulated(trace).duration_ns, 2000);
  EXPECT_EQ(simulated(trace).cpu_ns, 4000);
  EXPECT_EQ(simulated(trace, {.cores = 1}).duration_ns, 4000);
  EXPECT_EQ(simulated(trace, {.cores = 4}).duration_ns, 1000);
}

// t2 takes from a queue that t1 fills at 600.
constexpr std::string_view kQueue = R"(
0 main task_spawn t1 c1 p m2
0 main task_spawn t2 c1 p m3
0 w1 task_start t1
600 w1 wake w2
1000 w1 task_end t1
0 w2 task_start t2
100 w2 block_begin park c2
600 w2 block_end park
900 w2 task_end t2
)";

TEST(SimulateEvents, BlockWithAKnownWakerEndsWithItsWake) {
  const Trace trace = parsed(kQueue);
  EXPECT_EQ(end_of(simulated(trace).trace, 1), 900);
  // One core: t1 has shared with t2 until 200 and runs alone until its wake at 700; then they share again.
  const Simulation one = simulated(trace, {.cores = 1});
  EXPECT_EQ(one.cpu_ns, 1000 + 400);
  EXPECT_EQ(one.duration_ns, 1400);
  EXPECT_EQ(end_of(one.trace, 1), 700 + 600);
}

// With a single worker t2 cannot be woken before it starts; it starts after t1, finds the queue filled, and goes on at
// once.
TEST(SimulateEvents, WakeBeforeTheBlockIsKept) {
  const Simulation result = simulated(parsed(kQueue), {.pool_sizes = {{model::PoolId(0), 1}}});
  EXPECT_THAT(result.stuck, testing::IsEmpty());
  EXPECT_EQ(result.duration_ns, 1000 + 400);
}

// t1 serves a connection whose other end is main's. Two workers: its answer is there at 510. One: t1 comes after t2, and main
// has its answer when that is over.
TEST(SimulateEvents, AnAnswerOfTheProgramsOwnIsWaitedFor) {
  const Trace trace = parsed(R"(
connection a accepted 80 5001
connection o connected 5001 80
0 main task_spawn t2 c1 p m2
0 main task_spawn t1 c1 p m2
10 main send o 10
10 main block_begin io c1
510 main block_end io
510 main receive o 10
610 main thread_end
0 w1 task_start t1
0 w1 block_begin io c2
10 w1 block_end io
10 w1 receive a 10
510 w1 send a 10
510 w1 task_end t1
0 w2 task_start t2
1000 w2 task_end t2
)");
  const auto main_end = [](const Simulation& result) {
    const model::EventRange range = result.trace.thread_events(model::ThreadId(0));
    return result.trace.time_ns[range.end - 1];
  };
  EXPECT_EQ(main_end(simulated(trace, {.cores = 4})), 610);
  EXPECT_EQ(main_end(simulated(trace, {.cores = 4, .pool_sizes = {{model::PoolId(0), 1}}})), 1000 + 500 + 100);
}

// Inlined, t2 would wait for a wake that only its own thread can bring about later: noted, not a hang.
TEST(SimulateEvents, WakeThatCannotHappenIsNoted) {
  const Trace trace = parsed(R"(
0 main task_spawn t1 c1 p m2
0 w1 task_start t1
500 w1 block_begin park c2
600 main wake w1
600 w1 block_end park
700 w1 task_end t1
)");
  const Simulation result = simulated(trace, {}, {Treatment::inline_at_spawn});
  EXPECT_THAT(result.notes, testing::Contains(testing::HasSubstr("what woke them in the recording had not happened")));
  EXPECT_THAT(result.stuck, testing::IsEmpty());
}

// A stage t2 of t1, run by whoever completes t1, and an allOf future t3 over both that main waits for.
constexpr std::string_view kStages = R"(
0 main task_spawn t1 c1 p m2
0 main task_create t2 c1 m3
0 main task_depends t2 t1 all
0 main task_create t3 c1
0 main task_depends t3 t1 all
0 main task_depends t3 t2 all
0 main wait_begin t3 c1
0 w1 task_start t1
400 w1 task_complete t1
400 w1 task_start t2
700 w1 task_complete t2
700 w1 task_complete t3
700 w1 task_end t2
800 w1 task_end t1
700 main wait_end t3
)";

TEST(SimulateEvents, StagesRunWhereTheirSourceCompletes) {
  const Trace trace = parsed(kStages);
  const Simulation result = simulated(trace);
  EXPECT_THAT(result.stuck, testing::IsEmpty());
  EXPECT_EQ(start_of(result.trace, 1), 400);
  EXPECT_EQ(end_of(result.trace, 0), 800);
  EXPECT_EQ(result.trace.time_ns[result.trace.tasks[2].complete.index()], 700);
  EXPECT_EQ(result.duration_ns, 800);
  // With the source inlined at its spawn, it is complete before the stage is made: the stage runs on its maker.
  const Simulation inlined = simulated(trace, {}, {Treatment::inline_at_spawn, Treatment::keep, Treatment::keep});
  EXPECT_THAT(inlined.stuck, testing::IsEmpty());
  EXPECT_EQ(inlined.trace.thread_of(inlined.trace.tasks[1].start), model::ThreadId(0));
  EXPECT_EQ(inlined.duration_ns, 800);
}

TEST(SimulateEvents, DelayedTasksStartWhenTheyAreDue) {
  const Trace trace = parsed(R"(
0 main task_spawn t1 c1 s m2
0 main task_delay t1 5
5000 w1 task_start t1
6000 w1 task_end t1
0 main wait_begin t1 c1
6000 main wait_end t1
)");
  const Simulation result = simulated(trace);
  EXPECT_EQ(start_of(result.trace, 0), 5000);
  EXPECT_EQ(result.duration_ns, 6000);
}

// Two tasks at a fixed rate of 5 us, each of which takes 4: one worker is late. On two, none runs before it is due.
TEST(SimulateEvents, PeriodicTasksRunNoSoonerThanTheyAreDue) {
  std::string text(R"(pool s1 scheduled_thread_pool 1 1
thread s-1
0 main task_spawn t1 c1 s1 m2
0 main task_spawn t2 c1 s1 m2
0 main wait_begin t8 c1
)");
  text += "0 s-1 task_start t1\n4000 s-1 task_end t1\n4000 s-1 task_spawn t3 - s1 m2\n4000 s-1 task_delay t3 1\n";
  for (int64_t task = 2; task < 9; ++task) {
    const std::string name = " t" + std::to_string(task), again = " t" + std::to_string(task + 2);
    const std::string begin = std::to_string((task - 1) * 4000), end = std::to_string(task * 4000);
    text += begin + " s-1 task_start" + name + "\n" + end + " s-1 task_end" + name + "\n";
    if (task < 7) text += end + " s-1 task_spawn" + again + " - s1 m2\n";
  }
  const Trace trace = parsed(text + "32000 main wait_end t8\n");
  const model::PoolId pool = trace.tasks[0].pool;
  const auto with = [&](uint32_t workers) { return simulated(trace, {.pool_sizes = {{pool, workers}}}).duration_ns; };
  EXPECT_EQ(with(1), 32'000);
  // The fourth runs of both begin at 15 us.
  EXPECT_EQ(with(2), 19'000);
}

TEST(SimulateEvents, ThreadsStartAndAreJoined) {
  const Trace trace = parsed(R"(
thread other
0 main task_spawn t1 c1
50 other thread_begin
50 other task_start t1
1050 other task_end t1
1050 other thread_end
100 main wait_begin t1 c1
1050 main wait_end t1
)");
  const Simulation result = simulated(trace, {.cores = 1});
  EXPECT_EQ(result.duration_ns, 1050);
  EXPECT_EQ(result.cpu_ns, 1000);
  const base::Result<Simulation> refused = simulate(trace, {.treatments = {Treatment::inline_at_spawn}});
  ASSERT_FALSE(refused.ok());
  EXPECT_THAT(refused.error().message, testing::HasSubstr("is the run of a thread"));
}

// The pool's queue was full: main ran t1 itself.
TEST(SimulateEvents, TasksThatTheirCallerRan) {
  const Trace trace = parsed(R"(
0 main task_spawn t1 c1 p m2
0 main task_start t1
500 main task_end t1
)");
  const Simulation result = simulated(trace);
  EXPECT_EQ(result.trace.thread_of(result.trace.tasks[0].start), model::ThreadId(0));
  EXPECT_EQ(result.duration_ns, 500);
}

TEST(SimulateEvents, UnknownWaitsKeepTheirLengthAndAreCounted) {
  const Trace trace = parsed(R"(
0 main task_spawn t1 c1 p m2
0 main wait_begin t1 c1
300 main wait_end t1 timeout
300 main wait_begin - c1
500 main wait_end -
)");
  const Simulation result = simulated(trace);
  EXPECT_EQ(result.duration_ns, 500);
  EXPECT_EQ(result.unknown_waits, 2u);
  EXPECT_THAT(result.notes, testing::Contains(testing::HasSubstr("2 waits have no known end")));
}

TEST(SimulateEvents, HandOverTimesAreTheRecordedMedians) {
  const Trace trace = parsed(R"(
0 main task_spawn t1 c1 p m2
70 w1 task_start t1
1070 w1 task_end t1
0 main wait_begin t1 c1
1090 main wait_end t1
)");
  EXPECT_EQ(simulated(trace).duration_ns, 1090);
  EXPECT_EQ(simulated(trace, {.recorded_latencies = false}).duration_ns, 1000);
}

TEST(SimulateEvents, BaselineCheckTellsHowFarOffTheModelIs) {
  const base::Result<BaselineCheck> good = check_baseline(parsed(kStages));
  ASSERT_TRUE(good.ok());
  EXPECT_EQ(good->recorded_ns, 800);
  EXPECT_EQ(good->simulated_ns, 800);
  EXPECT_TRUE(good->trusted);
  // The one worker took t3 before t2, whose turn it was.
  const base::Result<BaselineCheck> bad = check_baseline(parsed(R"(
pool one thread_pool 1 1
0 main task_spawn t1 c1 one m2
0 main task_spawn t2 c1 one m2
0 main task_spawn t3 c1 one m2
0 main wait_begin t3 c1
0 w1 task_start t1
1000 w1 task_end t1
1000 w1 task_start t3
2000 w1 task_end t3
2000 main wait_end t3
2000 w1 task_start t2
2000 main block_begin sleep c1
2500 w1 task_end t2
4000 main block_end sleep
4000 main thread_end
)"));
  ASSERT_TRUE(bad.ok());
  EXPECT_DOUBLE_EQ(bad->error, 0.125);
  EXPECT_FALSE(bad->trusted);
  // One core is asked for, two were recorded: what is checked is the recorded run.
  const base::Result<BaselineCheck> other = check_baseline(parsed(kGaps), {.cores = 1});
  ASSERT_TRUE(other.ok());
  EXPECT_GT(other->simulated_ns, other->recorded_ns);
  EXPECT_EQ(other->checked_ns, other->recorded_ns);
  EXPECT_TRUE(other->trusted);
}

// t2 was still taking from its queue when the recording ended, an acceptor in a daemon thread still slept, and a tick
// was still to come: none of them keeps a shorter variant at the recorded length.
TEST(SimulateEvents, BackgroundDoesNotHoldTheRun) {
  const Trace trace = parsed(R"(
thread acceptor daemon
0 main task_spawn t1 c1 p m2
0 main task_spawn t2 c1 p m3
0 main task_spawn t3 c1 s m3
0 main task_delay t3 5
0 acceptor task_spawn t4 c2 p m2
4000 acceptor wait_begin t4 c2
4000 acceptor wait_end t4
0 w1 task_start t1
100 w1 task_spawn t5 c2 p m3
100 w1 wait_begin t5 c2
1100 w1 wait_end t5
1200 w1 task_end t1
0 w2 task_start t2
50 w2 block_begin park c2
0 main wait_begin t1 c1
1200 main wait_end t1
1200 main thread_end
thread w3
thread w4
thread w5
600 w3 task_start t5
1100 w3 task_end t5
5000 w4 task_start t3
6000 w4 task_end t3
100 w5 task_start t4
110 w5 task_end t4
)");
  const SimulateOptions options{
      .unlimited_cores = true, .pool_sizes = {{model::PoolId(0), 9}}, .recorded_latencies = false};
  const Simulation base = simulated(trace, options);
  EXPECT_EQ(base.duration_ns, 700);
  EXPECT_THAT(base.stuck, testing::IsEmpty());
  EXPECT_TRUE(model::verify(base.trace).ok());
  const base::Result<BaselineCheck> check = check_baseline(trace, {.unlimited_cores = true});
  ASSERT_TRUE(check.ok());
  EXPECT_EQ(check->recorded_ns, 1200);
}

// One worker that spawns three tasks runs the newest of its own first; an idle one takes the oldest of them.
TEST(SimulateEvents, ForkJoinWorkersTakeTheirNewestAndOthersOldest) {
  const Trace trace = parsed(R"(
0 main task_spawn t1 c1 f m2
0 w1 task_start t1
0 w1 task_spawn t2 c2 f m3
0 w1 task_spawn t3 c2 f m3
0 w1 task_spawn t4 c2 f m3
1000 w1 task_end t1
1000 w1 task_start t4
2000 w1 task_end t4
2000 w1 task_start t3
3000 w1 task_end t3
3000 w1 task_start t2
4000 w1 task_end t2
)");
  const Simulation one = simulated(trace, {.pool_sizes = {{model::PoolId(1), 1}}});
  EXPECT_EQ(start_of(one.trace, 3), 1000);
  EXPECT_EQ(start_of(one.trace, 2), 2000);
  EXPECT_EQ(start_of(one.trace, 1), 3000);
  const Simulation two = simulated(trace, {.pool_sizes = {{model::PoolId(1), 2}}});
  EXPECT_EQ(start_of(two.trace, 1), 0);     // stolen: the oldest
  EXPECT_EQ(start_of(two.trace, 3), 1000);  // its own newest
  EXPECT_EQ(two.duration_ns, 2000);
}

// A parallel stream: t1 forks t2 and does its own half; whoever ends last completes t1, for which main waits. Recorded,
// that was t2; with t2 inlined it is t1 itself.
constexpr std::string_view kStream = R"(
0 main task_spawn t1 c1 f m2
0 w1 task_start t1
0 w1 task_spawn t2 c2 f m3
400 w1 task_end t1
0 w2 task_start t2
900 w2 task_complete t1
900 w2 task_end t2
0 main wait_begin t1 c1
900 main wait_end t1
)";

TEST(SimulateEvents, CountedCompletersCompleteWithTheLastBelowThem) {
  const Trace trace = parsed(kStream);
  EXPECT_EQ(simulated(trace).duration_ns, 900);
  const Simulation alone = simulated(trace, {.pool_sizes = {{model::PoolId(1), 1}}});
  EXPECT_THAT(alone.stuck, testing::IsEmpty());
  EXPECT_EQ(alone.duration_ns, 1300);
  const Simulation inlined = simulated(trace, {}, {Treatment::keep, Treatment::inline_at_spawn});
  EXPECT_THAT(inlined.stuck, testing::IsEmpty());
  EXPECT_EQ(inlined.duration_ns, 1300);
  const uint32_t completion = inlined.trace.tasks[0].complete.value;
  EXPECT_EQ(inlined.trace.time_ns[completion], 1300);
}

// A parallel stream whose caller forks two parts, does its own, and runs one of the two while it waits; the pool's only
// worker runs the other.
TEST(SimulateEvents, CallersOfCountedCompletersRunTheirParts) {
  const Trace trace = parsed(R"(pool g fork_join 1 1
0 main task_start t1
0 main task_spawn t2 c2 g m3
0 main task_spawn t3 c2 g m3
400 main task_end t1
400 main wait_begin t1 c1
400 main task_start t3
800 main task_end t3
0 w1 task_start t2
900 w1 task_complete t1
900 w1 task_end t2
900 main wait_end t1
)");
  EXPECT_EQ(simulated(trace, {.cores = 2}).duration_ns, 900);
}

// A fork-join pool of one: while its worker sleeps within a managed block, a spare runs the next task. The run had two
// workers, but a sleep that is not managed holds up all others.
TEST(SimulateEvents, ForkJoinPoolsMakeUpForManagedBlocksOnly) {
  const auto two_tasks = [](std::string_view sleeps_in) {
    return parsed("method m8 java.util.concurrent.ForkJoinPool." + std::string(sleeps_in) +
                  " ForkJoinPool.java:1\ncontext c8 - m8:1\n" + R"(pool g fork_join 1 1
0 main task_spawn t1 c1 g m3
0 main task_spawn t2 c1 g m3
0 main wait_begin t1 c1
0 w1 task_start t1
0 w1 block_begin sleep c8
0 w2 task_start t2
0 w2 block_begin sleep c8
500 w1 block_end sleep
500 w1 task_end t1
500 main wait_end t1
500 main wait_begin t2 c1
500 w2 block_end sleep
500 w2 task_end t2
500 main wait_end t2
)");
  };
  EXPECT_EQ(simulated(two_tasks("managedBlock"), {.cores = 2}).duration_ns, 500);
  EXPECT_EQ(simulated(two_tasks("runWorker"), {.cores = 2}).duration_ns, 1000);
}

// A program that ran two tasks of 500 on one worker, and had a shutdown hook: with two workers it takes 500, and what
// comes after it comes sooner.
TEST(SimulateEvents, ShutdownHooksDoNotHoldTheEnd) {
  const Trace trace = parsed(R"(thread last "DestroyJavaVM"
thread hook
0 main task_spawn t1 c1 p m2
0 main task_spawn t2 c1 p m2
0 w1 task_start t1
0 w1 block_begin sleep c2
500 w1 block_end sleep
500 w1 task_end t1
500 w1 task_start t2
500 w1 block_begin sleep c2
1000 w1 block_end sleep
1000 w1 task_end t2
0 main wait_begin t1 c1
500 main wait_end t1
500 main wait_begin t2 c1
1000 main wait_end t2
1000 main thread_end
1000 last thread_begin
1010 last task_spawn t3 c1 - m3
1010 last wait_begin t3 c1
1020 hook task_start t3
1030 hook task_complete t3
1030 hook task_end t3
1040 last wait_end t3
1040 last thread_end
)");
  EXPECT_EQ(simulated(trace, {.pool_sizes = {{model::PoolId(0), 2}}, .recorded_latencies = false}).duration_ns, 500);
}

TEST(SimulateEvents, EmptyTrace) {
  const base::Result<Simulation> result = simulate(Trace(), {}, {});
  ASSERT_TRUE(result.ok());
  EXPECT_EQ(result->duration_ns, 0);
}

}  // namespace
}  // namespace contrafact::whatif
