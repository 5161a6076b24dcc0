// Which loops are taken to go otherwise in a changed run, and what they come to.
#include "whatif/sim_rounds.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "model/text_trace.h"
#include "whatif/sim_program.h"
#include "whatif/simulate.h"
#include "whatif/trace_for_test.h"

namespace contrafact::whatif {
namespace {

using model::Trace;

std::vector<RoundLoop> loops(const Trace& trace) {
  return compile_program(model::Facts(trace), false).rounds.loops;
}

int64_t simulated_without_ns(const Trace& trace, const std::string& dropped = "") {
  const Simulator simulator(trace);
  std::vector<SectionEdit> edits = unedited(simulator.sections());
  for (size_t i = 0; i < edits.size(); ++i) {
    if (trace.string(trace.locks[simulator.sections()[i].lock.index()].name) == dropped)
      edits[i].mode = SectionEdit::Mode::none;
  }
  const auto result = simulator.simulate({.edits = edits}, {.recorded_latencies = false});
  EXPECT_TRUE(result.ok());
  return result.ok() ? result->duration_ns : 0;
}

constexpr std::string_view kPlaces =
    "fact agent native\nfact cores 3\nlock queue mutex queue\nlock table mutex table\n"
    "method next app.next app.c:1\nmethod job app.job app.c:9\ncontext n - next:2\ncontext j - job:10\n"
    "thread a\nthread b\nthread c\n";

std::string visit(int64_t at_ns, std::string_view thread) {
  return fmt::format("{0} {1} lock_acquire queue n\n{0} {1} lock_release queue\n", at_ns, thread);
}

// Workers a and b get seven pieces of work: a six of 500 each, b one that waits for the table, which c holds until
// 1500.
Trace two_workers() {
  std::string text(kPlaces);
  for (int64_t at_ns = 0; at_ns <= 3000; at_ns += 500) text += visit(at_ns, "a");
  return trace_of(text + "3000 a thread_end\n" + visit(50, "b") +
                  "150 b lock_request table j\n1500 b lock_acquired table\n2950 b lock_release table\n" +
                  visit(3000, "b") + "3000 b thread_end\n" +
                  "0 c lock_acquire table j\n1500 c lock_release table\n1500 c thread_end\n");
}

// The same sections in tasks of a pool: which worker gets the next task, the pool knows.
TEST(Rounds, APoolHandsOutItsTasksItself) {
  std::string text =
      "fact cores 3\npool p thread_pool 2 2\nlock queue mutex queue\nmethod next app.next app.c:1\n"
      "context n - next:2\nthread main\nthread a\nthread b\n";
  for (int task = 1; task <= 8; ++task) text += fmt::format("0 main task_spawn t{} n p next\n", task);
  int task = 0;
  for (int64_t at_ns = 0; at_ns < 3000; at_ns += 500) {
    const std::string_view thread = at_ns == 0 || at_ns == 2500 ? "b" : "a";
    text += fmt::format(
        "{0} {1} task_start t{2}\n{0} {1} lock_acquire queue n\n{3} {1} lock_release queue\n{3} {1} task_end t{2}\n",
        at_ns, thread, ++task, at_ns + 400);
  }
  EXPECT_THAT(loops(trace_of(text)), testing::IsEmpty());
}

TEST(Rounds, WhoeverIsFreeGetsTheNextPieceOfWork) {
  const Trace trace = two_workers();
  ASSERT_EQ(loops(trace).size(), 1u);
  EXPECT_EQ(loops(trace)[0].kind, RoundLoop::Kind::handed_out);
  EXPECT_EQ(loops(trace)[0].rounds, 7u);
  EXPECT_EQ(simulated_without_ns(trace), 3000);
  // Without the table's lock b is free at 1650 and gets one that a had.
  EXPECT_EQ(simulated_without_ns(trace, "table"), 2500);
}

TEST(Rounds, EachHasItsOwnWhereTheLastVisitsAreNotTheLast) {
  const Trace trace =
      trace_of(std::string(kPlaces) + visit(0, "a") + visit(1000, "a") + visit(2000, "a") + visit(3000, "a") +
               "3000 a thread_end\n" + visit(50, "b") + visit(500, "b") + visit(900, "b") + "1000 b thread_end\n");
  EXPECT_THAT(loops(trace), testing::IsEmpty());
}

TEST(Rounds, EachHasItsOwnWhereAllComeAboutEquallyOften) {
  const Trace trace =
      trace_of(std::string(kPlaces) + visit(0, "a") + visit(1000, "a") + visit(2000, "a") + visit(2500, "a") +
               "3000 a thread_end\n" + visit(50, "b") + visit(1500, "b") + visit(2900, "b") + "3000 b thread_end\n");
  EXPECT_THAT(loops(trace), testing::IsEmpty());
}

// Each thread works ten times for 100 between its visits. A thread that finds a queue empty is done. One that has its
// own number of rounds works after the last visit, or before the first.
Trace equally_often(int64_t before_ns, int64_t after_ns) {
  std::string text(kPlaces);
  for (const auto& [thread, begin_ns] : {std::pair{"a", int64_t{0}}, {"b", int64_t{50}}}) {
    text += fmt::format("{} {} thread_begin\n", begin_ns, thread);
    for (int64_t i = 0; i <= 10; ++i) text += visit(begin_ns + before_ns + 100 * i, thread);
    text += fmt::format("{} {} thread_end\n", begin_ns + before_ns + 1000 + after_ns, thread);
  }
  return trace_of(text);
}

TEST(Rounds, WhoeverIsFreeGetsTheNextWhereThreadsAreDoneAfterAVisitWithoutWork) {
  ASSERT_EQ(loops(equally_often(5, 5)).size(), 1u);
  EXPECT_EQ(loops(equally_often(5, 5))[0].rounds, 20u);
  EXPECT_THAT(loops(equally_often(5, 100)), testing::IsEmpty());
  EXPECT_THAT(loops(equally_often(100, 5)), testing::IsEmpty());
}

// They draw numbers: a is held up, and makes 10 rounds where b makes 20; both end with the last of the work.
Trace drawing(int64_t b_end_ns) {
  std::string text(kPlaces);
  for (int64_t at_ns = 0; at_ns < 2000; at_ns += 200) text += visit(at_ns, "a");
  for (int64_t i = 0; i < 20; ++i) text += visit(50 + i * (b_end_ns - 50) / 20, "b");
  return trace_of(text + "2000 a thread_end\n" + fmt::format("{} b thread_end\n", b_end_ns));
}

TEST(Rounds, WhoeverIsFreeGetsTheNextWhereUnequalThreadsEndTogether) {
  ASSERT_EQ(loops(drawing(2050)).size(), 1u);
  EXPECT_EQ(loops(drawing(2050))[0].rounds, 28u);
  EXPECT_THAT(loops(drawing(1000)), testing::IsEmpty());
}

// Both make 20 rounds; chance decides which of two places each of them comes to, and both end together.
TEST(Rounds, EachHasItsOwnWhereChanceDecidesThePlace) {
  std::string text(kPlaces);
  for (int64_t i = 0; i < 20; ++i) {
    const auto come = [&](std::string_view thread, int64_t at_ns, bool to_table) {
      if (!to_table) return visit(at_ns, thread);
      return fmt::format("{0} {1} lock_acquire table j\n{0} {1} lock_release table\n", at_ns, thread);
    };
    text += come("a", 100 * i, i % 5 == 4) + come("b", 100 * i + 50, i % 2 == 1);
  }
  EXPECT_THAT(loops(trace_of(text + "2000 a thread_end\n2050 b thread_end\n")), testing::IsEmpty());
}

// As the threads that draw numbers, but both come equally often to another place, and more often.
TEST(Rounds, EachHasItsOwnWhereWorkRarelyComesToThePlace) {
  std::string text(kPlaces);
  const auto add = [&](std::string_view thread, int64_t at_ns, int tables) {
    for (int64_t i = 0; i < tables; ++i)
      text += fmt::format("{0} {1} lock_acquire table j\n{0} {1} lock_release table\n", at_ns + i, thread);
    text += visit(at_ns + tables, thread);
  };
  for (int64_t i = 0; i < 10; ++i) add("a", 200 * i, 6);
  for (int64_t i = 0; i < 20; ++i) add("b", 100 * i + 50, 3);
  EXPECT_THAT(loops(trace_of(text + "2000 a thread_end\n2050 b thread_end\n")), testing::IsEmpty());
}

// As in the test where all come equally often, but a waited for its first piece of work, for which it came from another
// line.
TEST(Rounds, WhereThreadsWaitForWorkItIsHandedOut) {
  const Trace trace =
      trace_of("lock work condition work\n" + std::string(kPlaces) +
               "0 a lock_acquire queue j\n0 a lock_release queue\n0 a sync_wait work n\n50 a sync_woken work\n"
               "50 a lock_acquire queue n\n50 a lock_release queue\n" +
               visit(1000, "a") + visit(2000, "a") + visit(2950, "a") + "3000 a thread_end\n" +
               "40 c lock_acquire queue j\n" + "41 c sync_signal work j\n42 c lock_release queue\n43 c thread_end\n" +
               visit(60, "b") + visit(1500, "b") + visit(2900, "b") + "3000 b thread_end\n");
  ASSERT_EQ(loops(trace).size(), 1u);
  EXPECT_EQ(loops(trace)[0].rounds, 4u);
}

// Thread `a` works until 3000, half of it waiting for the table; b sleeps 100 of every 200 ns until `last_ns`.
Trace with_sleeper(int64_t last_ns, bool awaited) {
  std::string text = std::string(kPlaces) + "thread main\nmethod run app.run app.c:20\n" +
                     "100 a lock_request table j\n1500 a lock_acquired table\n1500 a lock_release table\n" +
                     "3000 a thread_end\n0 c lock_acquire table j\n1500 c lock_release table\n1500 c thread_end\n" +
                     "0 main task_spawn t1 j - run\n0 b task_start t1\n";
  for (int64_t at_ns = 100; at_ns < last_ns; at_ns += 200)
    text += fmt::format("{} b block_begin sleep n\n{} b block_end sleep\n", at_ns, at_ns + 100);
  text += fmt::format("{0} b task_end t1\n{0} b thread_end\n", last_ns);
  if (awaited) text += fmt::format("3000 main wait_begin t1 j\n{0} main wait_end t1\n", last_ns);
  return trace_of(text + fmt::format("{} main thread_end\n", awaited ? last_ns : 0));
}

TEST(Rounds, ASleeperThatIsAwaitedInItsLastRoundGoesOnUntilThen) {
  const Trace trace = with_sleeper(3100, true);
  ASSERT_EQ(loops(trace).size(), 1u);
  EXPECT_EQ(loops(trace)[0].kind, RoundLoop::Kind::until_awaited);
  EXPECT_TRUE(loops(trace)[0].run.valid());
}

TEST(Rounds, APoolsWorkerThatSleepsInItsTasksDoesNotChooseHowMany) {
  std::string text = std::string(kPlaces) +
                     "pool p thread_pool 1 1\nthread main\nthread w\nmethod run app.run app.c:20\n"
                     "0 main task_spawn t1 j p run\n3050 main thread_end\n100 w task_start t1\n";
  for (int64_t at_ns = 100; at_ns < 3000; at_ns += 200)
    text += fmt::format("{} w block_begin sleep n\n{} w block_end sleep\n", at_ns, at_ns + 100);
  EXPECT_THAT(loops(trace_of(text + "3100 w task_end t1\n3100 w thread_end\n")), testing::IsEmpty());
}

// A client that pauses between its requests, and whose end main happens to wait for within its last round.
TEST(Rounds, WhoHandsTasksOutBetweenItsSleepsMakesAllItsRounds) {
  std::string text = std::string(kPlaces) +
                     "pool p thread_pool 1 1\nthread main\nthread w\nmethod run app.run app.c:20\n"
                     "0 main task_spawn t1 j - run\n3050 main wait_begin t1 j\n3100 main wait_end t1\n"
                     "3100 main thread_end\n0 b task_start t1\n50 w thread_begin\n";
  std::string worker;
  for (int task = 2, at_ns = 100; at_ns < 3000; at_ns += 200, ++task) {
    text += fmt::format("{0} b block_begin sleep n\n{1} b block_end sleep\n{1} b task_spawn t{2} j p run\n", at_ns,
                        at_ns + 100, task);
    worker += fmt::format("{0} w task_start t{2}\n{1} w task_end t{2}\n", at_ns + 110, at_ns + 150, task);
  }
  const Trace trace = trace_of(text + worker + "3100 b task_end t1\n3100 b thread_end\n3100 w thread_end\n");
  EXPECT_THAT(loops(trace), testing::IsEmpty());
}

TEST(Rounds, ASleeperThatEndsAfterTheOthersGoesOnUntilThen) {
  const Trace trace = with_sleeper(3100, false);
  ASSERT_EQ(loops(trace).size(), 1u);
  EXPECT_FALSE(loops(trace)[0].run.valid());
  EXPECT_EQ(simulated_without_ns(trace), 3100);
  // Without the table's lock a ends at 1600, and b looks at 1600 or 1800.
  EXPECT_LE(simulated_without_ns(trace, "table"), 1900);
}

TEST(Rounds, ASleeperThatGoesOnForLongIsOnItsOwn) {
  const Trace trace = with_sleeper(5100, false);
  EXPECT_THAT(loops(trace), testing::IsEmpty());
  EXPECT_EQ(simulated_without_ns(trace, "table"), 5100);
}

}  // namespace
}  // namespace contrafact::whatif
