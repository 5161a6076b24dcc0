#include "whatif/waits_between.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <regex>
#include <string>

#include "whatif/load.h"
#include "whatif/load_templates.h"
#include "whatif/simulated_text_for_test.h"

namespace contrafact::whatif {
namespace {

// Every 100 ms two requests come at once to a pool of two workers. Both need an object of which there is one, for 10 ms; the second one
// waits for it, and the first one wakes it. `place`: where it waits. Before, it runs `parts` tasks itself.
std::string requests_that_wait(std::string_view place, int count = 20, int parts = 0) {
  std::string text =
      "connection a accepted 80 5001\nconnection b accepted 80 5002\nmethod take shop.Pool.take Pool.java:10\n"
      "context take - take:12\n";
  std::string w1, w2;
  for (int i = 0; i < count; ++i) {
    std::string own;
    for (int part = 0; part < parts; ++part)
      own += fmt::format("{0} w2 task_create z{1}_{2} c1 m2\n{0} w2 task_start z{1}_{2}\n{0} w2 task_end z{1}_{2}\n",
                         100'000'000LL * i, i, part);
    const int64_t at = 100'000'000LL * i, half = at + 10'000'000, end = at + 20'000'000;
    text += fmt::format("{0} main task_spawn x{1} c1 p m2\n{0} main task_spawn y{1} c1 p m2\n", at, i);
    w1 += fmt::format(
        "{0} w1 task_start x{1}\n{0} w1 receive a 10\n{0} w1 block_begin sleep -\n{2} w1 block_end sleep\n{2} w1 wake "
        "w2\n"
        "{2} w1 send a 10\n{2} w1 task_end x{1}\n",
        at, i, half);
    w2 += fmt::format(
        "{0} w2 task_start y{1}\n{0} w2 receive b 10\n{5}{0} w2 block_begin park {4}\n{2} w2 block_end park\n{2} w2 "
        "block_begin sleep -\n"
        "{3} w2 block_end sleep\n{3} w2 send b 10\n{3} w2 task_end y{1}\n",
        at, i, half, end, place, own);
  }
  return text + w1 + w2;
}

std::vector<std::string> notes_of(const std::string& text) {
  const model::Trace trace = parsed(text);
  const model::Facts facts(trace);
  const model::Requests requests = model::requests_by_connection(trace);
  base::Result<LoadSimulator> simulator = LoadSimulator::make(facts, requests);
  EXPECT_TRUE(simulator.ok());
  return simulator ? simulator->templates().notes() : std::vector<std::string>();
}

std::vector<WaitsBetween> waits_of(const std::string& text) {
  const model::Trace trace = parsed(text);
  const model::Facts facts(trace);
  const base::Result<LoadSimulator> simulator = LoadSimulator::make(facts, model::requests_by_connection(trace));
  EXPECT_TRUE(simulator.ok());
  return simulator ? simulator->templates().unknown_waits() : std::vector<WaitsBetween>();
}

// A semaphore's waiter that finds no permit sleeps again; one that finds one wakes the next waiter first.
TEST(WaitsBetween, WhoGetsAPermitAtLastHasWaitedForThat) {
  const std::string text = requests_that_wait("take", 200);
  const std::regex came("([0-9]+) w2 block_end park\n");
  const std::string again = "$&$1 w2 block_begin park take\n$1 w2 block_end park\n$1 w2 wake main\n";
  EXPECT_EQ(waits_of(std::regex_replace(text, came, again)).size(), 1u);
  EXPECT_EQ(waits_of("pool sem permits 1 1 Semaphore\n" +
                     std::regex_replace(text, came, again + "$1 w2 permit_take sem 1\n$1 w2 permit_give sem 1\n"))
                .size(),
            0u);
}

TEST(WaitsBetween, AreTheRequestsHoweverManyTasksItRanItselfBefore) {
  EXPECT_EQ(waits_of(requests_that_wait("take", 200, 12)).size(), 1u);
}

// Half of the 20 requests a second wait, 0.1 at a time: rho / (1 - rho) is 0.2, or 0.4.
TEST(WaitsBetween, SayHowManyRequestsUseAllOfIt) {
  const std::vector<WaitsBetween> found = waits_of(requests_that_wait("take", 200));
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].waits, 200u);
  EXPECT_TRUE(found[0].one_by_one);
  EXPECT_NEAR(found[0].per_second, 20 * 6, 1);
  EXPECT_NEAR(found[0].low_per_second, 20 * 3.5, 1);
}

// Half of the requests wait, 0.1 at a time: rho / (1 - rho) is 0.1 / 0.5, or twice that.
TEST(WaitsBetween, SayHowMuchOfSomethingUnknownIsUsed) {
  EXPECT_THAT(notes_of(requests_that_wait("take")),
              testing::Contains(testing::AllOf(testing::HasSubstr("50 % of the requests waited at Pool.take"),
                                               testing::HasSubstr("requests a second (estimated)"))));
}

// A task that the thread of the request before began idles until that hands a connection to it.
TEST(WaitsBetween, WhoIdlesUntilARequestIsHandedOverWaitsForNothing) {
  const std::string text = requests_that_wait("take", 200);
  const std::string before = std::regex_replace(text, std::regex("[0-9]+ w2 receive b 10\n"), "");
  const std::string behind =
      std::regex_replace(before, std::regex("([0-9]+) w2 block_end park\n"), "$&$1 w2 receive b 10\n");
  EXPECT_EQ(waits_of(text).size(), 1u);
  EXPECT_EQ(waits_of(behind).size(), 0u);
}

// Every 20 ms a worker that polled receives a request, hands out the task in which another one idles until the request after it, and serves
// for 10 ms. That one polls then, and receives the second request from here: a wait of the first request's task by no means.
TEST(WaitsBetween, WhoIdlesInATaskOfARequestUntilItServesAnotherWaitsForNothing) {
  std::string text =
      "connection a accepted 80 5001\nconnection b accepted 80 5002\nthread w3\nmethod idle shop.Reserved.idle "
      "Reserved.java:10\ncontext idle - idle:12\n0 main task_spawn y0 c1 p m2\n0 main task_spawn y1 c1 p m2\n";
  std::string of[3];
  constexpr int64_t kMs = 1'000'000;
  constexpr int kCount = 200;
  for (int i = 0; i < kCount; ++i) {
    const int64_t came = 20 * kMs * i + 50 * kMs;
    const auto line = [&](int64_t at_ns, std::string_view words) {
      of[i % 3] += fmt::format("{} w{} {}\n", at_ns, i % 3 + 1, words);
    };
    const int64_t woken = came - 18 * kMs;
    line(i < 2 ? i : came - 29 * kMs, fmt::format("task_start y{}", i));
    line(i < 2 ? i : came - 29 * kMs, "block_begin park idle");
    line(woken, "block_end park");
    line(woken, "block_begin poll -");
    line(came, "block_end poll");
    line(came, i % 2 == 0 ? "receive a 10" : "receive b 10");
    if (i + 2 < kCount) line(came + kMs, fmt::format("task_spawn y{} c1 p m2", i + 2));
    if (i + 1 < kCount) line(came + 2 * kMs, fmt::format("wake w{}", (i + 1) % 3 + 1));
    line(came + 2 * kMs, "block_begin sleep -");
    line(came + 10 * kMs, "block_end sleep");
    line(came + 10 * kMs, i % 2 == 0 ? "send a 10" : "send b 10");
    line(came + 10 * kMs, fmt::format("task_end y{}", i));
  }
  EXPECT_THAT(waits_of(text + of[0] + of[1] + of[2]), testing::IsEmpty());
}

TEST(WaitsBetween, AreNoneWhereFewRequestsWait) {
  EXPECT_THAT(notes_of(requests_that_wait("take", 9)),
              testing::Not(testing::Contains(testing::HasSubstr("waited at"))));
}

}  // namespace
}  // namespace contrafact::whatif
