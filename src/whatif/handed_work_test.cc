#include "whatif/handed_work.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "model/cpu_time_for_test.h"
#include "whatif/load.h"
#include "whatif/request_run.h"
#include "whatif/simulated_text_for_test.h"

namespace contrafact::whatif {
namespace {

// Every 50 ms a request comes to a pool of two workers, hands work to a thread of the program's own, which sleeps 10 ms for it, and waits.
// `native`: by a condition; else by parking. A second thread of that kind never has anything to do.
std::string requests_that_hand_over(bool native, int count = 20) {
  std::string text =
      "connection a accepted 80 5001\nconnection b accepted 80 5002\nthread k1 \"keeper-1\" daemon\nthread k2 "
      "\"keeper-2\" "
      "daemon\nmethod keep shop.Keeper.run Keeper.java:5\nlock q condition\nlock d condition\n";
  if (native) text += "fact agent native\n";
  std::string w1, keeper = "0 k1 task_start r1\n";
  text += "0 main task_spawn r1 c1 - keep\n0 main task_spawn r2 c1 - keep\n";
  const auto line = [](int64_t at, std::string_view words) { return fmt::format("{} {}\n", at, words); };
  const std::string sleeps = native ? "sync_wait q -" : "block_begin park -",
                    wakes = native ? "sync_woken q" : "block_end park";
  int64_t idle = 0;
  for (int i = 0; i < count; ++i) {
    const int64_t at = 50'000'000LL * i + 1'000'000, handed = at + 1'000'000, done = handed + 10'000'000;
    text += fmt::format("{0} main block_begin poll -\n{1} main block_end poll\n{1} main task_spawn x{2} c1 p m2\n",
                        i == 0 ? 0 : at - 50'000'000, at, i);
    w1 += line(at, fmt::format("w1 task_start x{}", i)) +
          line(at, fmt::format("w1 receive {} 10", i % 2 == 0 ? "a" : "b"));
    w1 += line(handed, native ? "w1 sync_signal q -" : "w1 wake k1");
    w1 += line(handed, native ? "w1 sync_wait d -" : "w1 block_begin park -");
    w1 += line(done, native ? "w1 sync_woken d" : "w1 block_end park");
    w1 += line(done, fmt::format("w1 send {} 10", i % 2 == 0 ? "a" : "b")) +
          line(done, fmt::format("w1 task_end x{}", i));
    keeper += line(idle, "k1 " + sleeps) + line(handed, "k1 " + wakes);
    keeper += line(handed, "k1 block_begin sleep -") + line(done, "k1 block_end sleep");
    keeper += line(done, native ? "k1 sync_signal d -" : "k1 wake w1");
    idle = done;
  }
  keeper += line(idle + 1, "k1 task_end r1");
  return text + w1 + keeper + "0 k2 task_start r2\n1000000000 k2 task_end r2\n";
}

TEST(HandedWork, IsWhatTheOtherThreadDidBetweenTheTwoWakes) {
  for (const bool native : {false, true}) {
    const model::Trace trace = parsed(requests_that_hand_over(native));
    const std::vector<HandedWork> found = handed_work(trace, model::requests_by_connection(trace));
    ASSERT_EQ(found.size(), 20u) << native;
    for (const HandedWork& one : found) {
      EXPECT_EQ(one.work.end_ns - one.work.begin_ns, 10'000'000);
      EXPECT_EQ(trace.time_ns[one.handed_before], one.work.begin_ns);
    }
  }
}

// A timer looks every millisecond at what is due, and nobody wakes it: its one thread limits nothing.
TEST(HandedWork, IsNoneOfAThreadThatNobodyWakes) {
  std::string text = requests_that_hand_over(false);
  for (const std::string_view woken : {"w1 wake k1\n", "k1 block_begin park -\n", "k1 block_end park\n"}) {
    for (size_t at = text.find(woken); at != std::string::npos; at = text.find(woken)) {
      const size_t begin = text.rfind('\n', at) + 1;
      text.erase(begin, at + woken.size() - begin);
    }
  }
  const model::Trace trace = parsed(text);
  const std::vector<HandedWork> found = handed_work(trace, model::requests_by_connection(trace));
  ASSERT_EQ(found.size(), 20u);
  EXPECT_FALSE(found[0].work.exists());
  const model::Facts facts(trace);
  const base::Result<LoadSimulator> simulator = LoadSimulator::make(facts, model::requests_by_connection(trace));
  ASSERT_TRUE(simulator.ok());
  SimulateOptions options;
  options.recorded_latencies = false;
  const base::Result<LoadRun> run =
      simulator->simulate({.pool_sizes = {{model::PoolId(0), 8}}}, {.clients = 8, .requests = 400}, options);
  ASSERT_TRUE(run.ok());
  for (const ServedRequest& served : run->served)
    EXPECT_NEAR(static_cast<double>(served.answered_ns - served.arrived_ns), 11e6, 1e6);
}

TEST(HandedWork, OfFewRequestsIsNone) {
  const model::Trace trace = parsed(requests_that_hand_over(false, 9));
  EXPECT_TRUE(handed_work(trace, model::requests_by_connection(trace)).empty());
}

// Two threads do the work, as two workers of the pool do the rest, for 12 ms in all: 2 / 12 ms.
TEST(HandedWork, IsDoneByAsManyThreadsAsThereAre) {
  for (const bool native : {false, true}) {
    const model::Trace trace = parsed(requests_that_hand_over(native));
    const model::Facts facts(trace);
    const base::Result<LoadSimulator> simulator = LoadSimulator::make(facts, model::requests_by_connection(trace));
    ASSERT_TRUE(simulator.ok());
    SimulateOptions options;
    options.recorded_latencies = false;
    const auto most = [&](const Variant& variant) {
      const base::Result<LoadRun> run = simulator->simulate(variant, {.clients = 8, .requests = 400}, options);
      EXPECT_TRUE(run.ok());
      int64_t last_ns = 0;
      for (const ServedRequest& request : run->served) last_ns = std::max(last_ns, request.answered_ns);
      return static_cast<double>(run->served.size()) * 1e9 / static_cast<double>(last_ns);
    };
    EXPECT_NEAR(most({.pool_sizes = {{model::PoolId(0), 8}}}), 200, 6) << native;  // limited by the two
    EXPECT_NEAR(most({.pool_sizes = {{model::PoolId(0), 8}}, .thread_sizes = {{"keeper-#", 4}}}), 400, 12) << native;
  }
}

// A program's first thread has no task of its own: to look through all that it did for each piece of work would take many times as long.
TEST(HandedWork, OfManyRequestsMayBeDoneByAThreadThatNobodyStarted) {
  constexpr int kRequests = 40'000;
  constexpr double kSecondsMost = 2;
  std::string text = requests_that_hand_over(true, kRequests);
  for (const std::string_view run : {"0 main task_spawn r1 c1 - keep\n", "0 k1 task_start r1\n"})
    text.erase(text.find(run), run.size());
  const size_t end = text.find("k1 task_end r1\n"), line = text.rfind('\n', end) + 1;
  text.erase(line, text.find('\n', line) + 1 - line);
  const model::Trace trace = parsed(text);
  const model::Facts facts(trace);
  const model::Requests requests = model::requests_by_connection(trace);
  EXPECT_LT(model::cpu_seconds_of([&] { EXPECT_TRUE(with_request_tasks(facts, requests).ok()); }), kSecondsMost);
}

}  // namespace
}  // namespace contrafact::whatif
