#include "model/hand_over_costs.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "model/text_trace.h"

namespace contrafact::model {
namespace {

constexpr int64_t kRoundNs = 1000;

struct Round {
  int64_t spawn_wake_ns;   // from the spawner's wake-up to its next event: waking, and its own code
  int64_t answer_wake_ns;  // from the worker's to its task's end
};

// A thread hands out one task after the other, each to a worker that sleeps, and waits for it.
Trace rounds(const std::vector<Round>& rounds) {
  std::string text = "thread main\nthread w1\npool p thread_pool 1\n0 main thread_begin\n0 w1 worker_idle p\n";
  for (size_t i = 0; i < rounds.size(); ++i) {
    const int64_t at = static_cast<int64_t>(i) * 100 * kRoundNs;
    const auto line = [&](int64_t ns, std::string_view what) { text += fmt::format("{} {}\n", at + ns, what); };
    line(100, fmt::format("main task_spawn t{} - p", i));
    line(140, "main wake w1");
    line(140 + rounds[i].spawn_wake_ns, fmt::format("main wait_begin t{}", i));
    line(300, "w1 worker_busy p");
    line(310, fmt::format("w1 task_start t{}", i));
    line(50'000, fmt::format("w1 task_complete t{}", i));
    line(50'010, "w1 wake main");
    line(50'010 + rounds[i].answer_wake_ns, fmt::format("w1 task_end t{}", i));
    line(50'020 + rounds[i].answer_wake_ns, "w1 worker_idle p");
    line(52'000, fmt::format("main wait_end t{}", i));
  }
  base::Result<Trace> trace = parse_text(text);
  EXPECT_TRUE(trace.ok()) << (trace.ok() ? "" : trace.error().message);
  return trace.ok() ? *std::move(trace) : Trace();
}

TEST(HandOverCosts, WakeUpsCostWhatTheyTookEachTime) {
  std::vector<Round> all;
  for (int i = 0; i < 20; ++i) all.push_back({i % 2 == 0 ? 1'500 : 9'500, i % 2 == 0 ? 9'000 : 1'000});
  const HandOverCosts costs = hand_over_costs(rounds(all));
  // At the worker's side nothing but the library runs.
  EXPECT_EQ(costs.answer_ns[0], 9'000);
  EXPECT_EQ(costs.answer_ns[1], 1'000);
  // The spawner's shortest gap is 500 longer than the shortest wake-up: its own code.
  EXPECT_EQ(costs.spawn_ns[0], 40 + 1'000);
  EXPECT_EQ(costs.spawn_ns[1], 40 + 9'000);
}

TEST(HandOverCosts, WhatTheProgramDoesAfterASpawnIsNoHandOut) {
  // Its own code after the spawn takes 0 to 38 us; a wake-up takes 2.
  std::vector<Round> all;
  for (int64_t i = 0; i < 20; ++i) all.push_back({2'000 + i * 2'000, 2'000});
  const HandOverCosts costs = hand_over_costs(rounds(all));
  int64_t sum_ns = 0;
  for (const int64_t ns : costs.spawn_ns) sum_ns += ns;
  EXPECT_LE(sum_ns / 20, 40 + 2'000);
  EXPECT_GT(sum_ns / 20, 1'000);
  // Nobody saw which part of its gap was the program's own.
  EXPECT_EQ(costs.spawn_most_ns[0], 40 + 2'000);
  EXPECT_EQ(costs.spawn_most_ns[19], 40 + 40'000);
}

// 26 us to queue it, 140 until the worker is started, and 7 of the program's own.
TEST(HandOverCosts, StartingAWorkerIsPartOfHandingOut) {
  const base::Result<Trace> trace = parse_text(
      "method m1 java.util.concurrent.ThreadPoolExecutor$Worker.run T.java:1\nthread main\nthread w1\n"
      "pool p thread_pool 1\n0 main task_spawn t1 - p\n26000 main task_spawn t2 - - m1\n166000 main pool_size p 1\n"
      "173000 main wait_begin t1\n200000 main wait_end t1\n"
      "100000 w1 task_start t2\n101000 w1 task_start t1\n190000 w1 task_end t1\n200000 w1 task_end t2\n");
  ASSERT_TRUE(trace.ok()) << trace.error().message;
  const HandOverCosts costs = hand_over_costs(*trace);
  EXPECT_EQ(costs.start_ns[0], 140'000);
  EXPECT_EQ(costs.start_ns[1], 0);
  EXPECT_EQ(costs.spawn_ns[0], 26'000);
}

// Handing out takes 900, of which a worker is started for 700; then the program computes for 5000 of its own.
TEST(HandOverCosts, WhereTheTraceSaysWhenHandingOutWasOverAllUntilThenIsTheLibrarys) {
  const base::Result<Trace> trace = parse_text(
      "method m1 java.util.concurrent.ThreadPoolExecutor$Worker.run T.java:1\nthread main\nthread w1\n"
      "pool p thread_pool 1\n0 main task_spawn t1 - p\n200 main task_spawn t2 - - m1\n800 main pool_size p 1\n"
      "900 main task_handed\n5900 main task_spawn t3 - p\n6000 main wake w1\n9900 main task_handed\n"
      "9950 main wait_begin t1\n20000 main wait_end t1\n"
      "1000 w1 task_start t2\n1010 w1 task_start t1\n19000 w1 task_end t1\n19100 w1 task_start t3\n"
      "19200 w1 task_end t3\n20000 w1 task_end t2\n");
  ASSERT_TRUE(trace.ok()) << trace.error().message;
  const HandOverCosts costs = hand_over_costs(*trace);
  EXPECT_TRUE(costs.handed[0] && costs.handed[2]);
  EXPECT_EQ(costs.spawn_ns[0], 200);
  EXPECT_EQ(costs.start_ns[0], 700);
  EXPECT_EQ(costs.spawn_ns[2], 4000);
  // What the program computed before may be the library's making of the task, for 3 us of the 5.
  EXPECT_EQ(costs.spawn_most_ns[2], 4000 + 3000);
}

TEST(HandOverCosts, OfAFewWakeUpsTheLeastIsTaken) {
  const HandOverCosts costs = hand_over_costs(rounds({{1'500, 1'000}, {4'500, 1'000}}));
  EXPECT_EQ(costs.spawn_ns[0], 1'540);
  EXPECT_EQ(costs.spawn_ns[1], 1'540);
}

}  // namespace
}  // namespace contrafact::model
