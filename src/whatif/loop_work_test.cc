#include "whatif/loop_work.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "whatif/load.h"
#include "whatif/load_templates.h"
#include "whatif/simulated_text_for_test.h"

namespace contrafact::whatif {
namespace {

// A loop takes requests a and b, 1 ms apart, every 50 ms, wakes a thread of the program's own for each, and polls. Each of these sleeps
// 10 ms, and wakes the loop, which answers.  `woken`: whether the loop wakes them.
std::string loop_that_hands_over(bool woken, int count = 20) {
  std::string text =
      "fact agent native\nconnection a accepted 80 5001\nconnection b accepted 80 5002\nthread k1 \"keeper-1\" daemon\n"
      "thread k2 \"keeper-2\" daemon\nmethod keep shop.Keeper.run Keeper.java:5\n"
      "lock q condition\n0 main task_spawn r1 c1 - keep\n0 main task_spawn r2 c1 - keep\n0 main task_spawn r3 c1 - "
      "keep\n";
  std::string loop = "0 main block_begin poll -\n";
  std::string k1 = "0 k1 task_start r1\n", k2 = "0 k2 task_start r2\n";
  const int64_t ms = 1'000'000;
  for (int i = 0; i < count; ++i) {
    const int64_t at = 50 * ms * i + ms;
    const auto turn = [&](int64_t from, std::string_view does) {
      loop += fmt::format("{0} main block_end poll\n{1}{2} main block_begin poll -\n", from, does, from + ms / 2);
    };
    const auto signal = [&](int64_t from) { return woken ? fmt::format("{} main sync_signal q -\n", from) : ""; };
    turn(at, fmt::format("{} main receive a 10\n", at) + signal(at));
    turn(at + ms, fmt::format("{} main receive b 10\n", at + ms) + signal(at + ms));
    turn(at + 10 * ms, fmt::format("{} main send a 10\n", at + 10 * ms));
    turn(at + 11 * ms, fmt::format("{} main send b 10\n", at + 11 * ms));
    const auto works = [&](std::string& of, std::string_view keeper, int64_t from, int64_t idle) {
      of += fmt::format(
          "{3} {0} sync_wait q -\n{1} {0} sync_woken q\n{1} {0} block_begin sleep -\n{2} {0} block_end sleep\n", keeper,
          from, from + 10 * ms, idle);
    };
    works(k1, "k1", at, i == 0 ? 0 : at - 40 * ms);
    works(k2, "k2", at + ms, i == 0 ? 1 : at - 39 * ms);
  }
  const int64_t end = 50 * ms * count;
  loop += fmt::format("{} main block_end poll\n", end);
  for (auto* of : {&k1, &k2}) {
    const std::string_view keeper = of == &k1 ? "k1" : "k2", run = of == &k1 ? "r1" : "r2";
    const int64_t idle = end - (of == &k1 ? 39 : 38) * ms;
    *of += fmt::format("{3} {1} sync_wait q -\n{0} {1} sync_woken q\n{0} {1} task_end {2}\n", end, keeper, run, idle);
  }
  return text + loop + k1 + k2;
}

TEST(LoopWork, IsWhatTheWokenThreadDidUntilItWaitsAgain) {
  const model::Trace trace = parsed(loop_that_hands_over(true));
  const model::Requests requests = model::requests_by_connection(trace);
  ASSERT_EQ(requests.all.size(), 40u);
  EXPECT_TRUE(requests.all[0].is_resumed);
  const auto found = loop_work(model::Facts(trace), requests);
  ASSERT_EQ(found.size(), 40u);
  for (const auto& [received, one] : found) {
    EXPECT_EQ(one.work.end_ns - one.work.begin_ns, 10'000'000);
    EXPECT_EQ(trace.time_ns[one.handed_before], one.work.begin_ns);
  }
}

// Nothing simulates how many there are, so that a note has to say it.
TEST(LoopWork, IsNamedInANoteWhereTheLoopIsKnownToHandItOut) {
  for (const bool woken : {true, false}) {
    const model::Trace trace = parsed(loop_that_hands_over(woken));
    const model::Facts facts(trace);
    const base::Result<LoadSimulator> simulator = LoadSimulator::make(facts, model::requests_by_connection(trace));
    ASSERT_TRUE(simulator.ok());
    const auto names = testing::Contains(testing::HasSubstr("to threads as keeper-1 (2 of them seen)"));
    if (woken)
      EXPECT_THAT(simulator->templates().notes(), names);
    else
      EXPECT_THAT(simulator->templates().notes(), testing::Not(names));
  }
}

}  // namespace
}  // namespace contrafact::whatif
