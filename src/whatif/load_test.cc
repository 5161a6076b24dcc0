#include "whatif/load.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <string>
#include <utility>

#include "whatif/load_templates.h"
#include "whatif/request_run.h"
#include "whatif/simulated_text_for_test.h"

namespace contrafact::whatif {
namespace {

constexpr std::string_view kConnections = "connection a accepted 80 5001\nconnection b accepted 80 5002\n";

// Requests of 10 ms on the pool of two workers: 2 ms on a core, a sleep of 8 ms.
std::string pooled_requests(int count) {
  std::string text(kConnections);
  std::string workers;
  for (int i = 0; i < count; ++i) {
    const int64_t at = 50'000'000LL * i;
    const char* connection = i % 2 == 0 ? "a" : "b";
    text += fmt::format("{} main task_spawn t{} c1 p m2\n", at, i + 1);
    workers += fmt::format(
        "{0} w1 task_start t{1}\n{0} w1 receive {2} 10\n{3} w1 block_begin sleep -\n{4} w1 block_end sleep\n"
        "{4} w1 send {2} 10\n{4} w1 task_end t{1}\n",
        at, i + 1, connection, at + 2'000'000, at + 10'000'000);
  }
  return text + workers;
}

struct Fixture {
  explicit Fixture(const std::string& text)
      : trace(parsed(text)), facts(trace), requests(model::requests_by_connection(trace)) {
    base::Result<LoadSimulator> made = LoadSimulator::make(facts, requests);
    EXPECT_TRUE(made.ok()) << (made.ok() ? "" : made.error().message);
    if (made) simulator.emplace(*std::move(made));
  }
  LoadRun run(const Load& load, const Variant& variant = {}, SimulateOptions options = {}) const {
    options.recorded_latencies = false;
    base::Result<LoadRun> made = simulator->simulate(variant, load, options);
    EXPECT_TRUE(made.ok()) << (made.ok() ? "" : made.error().message);
    return made.ok() ? *std::move(made) : LoadRun();
  }
  model::Trace trace;
  model::Facts facts;
  model::Requests requests;
  std::optional<LoadSimulator> simulator;
};

double per_second(const LoadRun& run) {
  int64_t last_ns = 0;
  for (const ServedRequest& request : run.served) last_ns = std::max(last_ns, request.answered_ns);
  return static_cast<double>(run.served.size()) * 1e9 / static_cast<double>(last_ns);
}

TEST(Load, OneClientWaitsForEachAnswer) {
  const Fixture service(pooled_requests(10));
  const LoadRun run = service.run({.clients = 1, .requests = 100});
  ASSERT_EQ(run.served.size(), 100u);
  for (const ServedRequest& request : run.served) EXPECT_EQ(request.answered_ns - request.arrived_ns, 10'000'000);
  EXPECT_NEAR(per_second(run), 100, 0.5);
}

TEST(Load, ClientsThatThinkAskLess) {
  const Fixture service(pooled_requests(10));
  EXPECT_NEAR(per_second(service.run({.clients = 1, .thinks_ns = {10'000'000}, .requests = 100})), 50, 0.5);
}

TEST(Load, APoolSaturates) {
  const Fixture service(pooled_requests(10));
  EXPECT_NEAR(per_second(service.run({.clients = 8, .requests = 400})), 200, 4);
}

TEST(Load, ALargerPoolServesMore) {
  const Fixture service(pooled_requests(10));
  const Variant variant{.pool_sizes = {{model::PoolId(0), 4}}};
  EXPECT_NEAR(per_second(service.run({.clients = 8, .requests = 400}, variant)), 400, 8);
}

// Two tasks of 10 ms each, which the request hands out and waits for one after the other.
std::string requests_in_turn(int count) {
  std::string text = std::string(kConnections) + "pool q thread_pool 8 8\ncontext c8 - m1:8\ncontext c9 - m1:9\n";
  std::string workers, others;
  for (int i = 0; i < count; ++i) {
    const int64_t at = 50'000'000LL * i;
    text += fmt::format("{} main task_spawn t{} c1 p m2\n", at, 3 * i + 1);
    workers += fmt::format("{0} w1 task_start t{1}\n{0} w1 receive {2} 10\n", at, 3 * i + 1, i % 2 == 0 ? "a" : "b");
    for (int part = 1; part <= 2; ++part) {
      const int64_t begin = at + 10'000'000LL * (part - 1), end = begin + 10'000'000;
      const int task = 3 * i + 1 + part;
      workers += fmt::format("{0} w1 task_spawn t{1} c{2} q m2\n{0} w1 wait_begin t{1} c{2}\n{3} w1 wait_end t{1}\n",
                             begin, task, 7 + part, end);
      others += fmt::format(
          "{0} w2 task_start t{1}\n{0} w2 block_begin sleep -\n{2} w2 block_end sleep\n{2} w2 task_end t{1}\n", begin,
          task, end);
    }
    workers +=
        fmt::format("{0} w1 send {2} 10\n{0} w1 task_end t{1}\n", at + 20'000'000, 3 * i + 1, i % 2 == 0 ? "a" : "b");
  }
  return text + workers + others;
}

TEST(Load, WaitsBehindAllThatIsHandedOutTakeAsLongAsTheLongest) {
  const Fixture service(requests_in_turn(10));
  EXPECT_NEAR(per_second(service.run({.clients = 1, .requests = 100})), 50, 1);
  Variant variant;
  variant.waits_later.assign(service.trace.tasks.size(), true);
  EXPECT_NEAR(per_second(service.run({.clients = 1, .requests = 100}, variant)), 100, 2);
}

// One permit, held for 10 ms of computing and sleeping; given back before the sleep of 8 ms it lets others in.
TEST(Load, APermitGivenBackBeforeASleepIsThereForOthers) {
  std::string text = std::string(kConnections) + "pool db permits 1 1\n";
  std::string workers;
  for (int i = 0; i < 10; ++i) {
    const int64_t at = 50'000'000LL * i;
    text += fmt::format("{} main task_spawn t{} c1 p m2\n", at, i + 1);
    workers += fmt::format(
        "{0} w1 task_start t{1}\n{0} w1 receive {2} 10\n{0} w1 permit_take db 1\n{3} w1 block_begin sleep -\n"
        "{4} w1 block_end sleep\n{4} w1 permit_give db 1\n{4} w1 send {2} 10\n{4} w1 task_end t{1}\n",
        at, i + 1, i % 2 == 0 ? "a" : "b", at + 2'000'000, at + 10'000'000);
  }
  const Fixture service(text + workers);
  EXPECT_NEAR(per_second(service.run({.clients = 4, .requests = 200})), 100, 2);
  Variant variant;
  for (uint32_t i = 0; i < 10; ++i) variant.earlier_gives.push_back({i, 8'000'000});
  EXPECT_NEAR(per_second(service.run({.clients = 4, .requests = 200}, variant)), 200, 4);  // two workers
}

// Each request takes one of two permits for 10 ms, and another one for the last 2 ms.
TEST(Load, RequestsThatWaitForEachOthersPermitsStandStill) {
  std::string text = std::string(kConnections) + "pool db permits 2 2\n", workers;
  for (int i = 0; i < 10; ++i) {
    const int64_t at = 50'000'000LL * i;
    text += fmt::format("{} main task_spawn t{} c1 p m2\n", at, i + 1);
    workers += fmt::format(
        "{0} w1 task_start t{1}\n{0} w1 receive {2} 10\n{0} w1 permit_take db 1\n{0} w1 block_begin sleep -\n"
        "{3} w1 block_end sleep\n{3} w1 permit_take db 1\n{3} w1 block_begin sleep -\n{4} w1 block_end sleep\n"
        "{4} w1 permit_give db 1\n{4} w1 permit_give db 1\n{4} w1 send {2} 10\n{4} w1 task_end t{1}\n",
        at, i + 1, i % 2 == 0 ? "a" : "b", at + 8'000'000, at + 10'000'000);
  }
  const Fixture service(text + workers);
  EXPECT_NEAR(per_second(service.run({.clients = 1, .requests = 100})), 100, 1);
  const LoadRun two = service.run({.clients = 2, .requests = 100});
  ASSERT_FALSE(two.simulation.stuck.empty());
  EXPECT_EQ(two.simulation.stuck.front().reason, "waits for a permit of db: whoever has some of the 2 waits, too");
  EXPECT_EQ(two.simulation.stuck.front().lacks, StuckTask::Lacks::permits);
  // No more than two handlers take some.
  const Variant three{.pool_sizes = {{model::PoolId(3), 3}}};
  EXPECT_TRUE(service.run({.clients = 8, .requests = 100}, three).simulation.stuck.empty());
}

// Each request hands a part to its own pool of two workers, and waits at a latch until that is done.
TEST(Load, RequestsThatWaitAtALatchForTheirOwnPoolStandStill) {
  std::string text = std::string(kConnections) +
                     "method m9 java.util.concurrent.CountDownLatch.await L.java:1\ncontext c9 c2 m9:3\n",
              one, other;
  for (int i = 0; i < 10; ++i) {
    const int64_t at = 50'000'000LL * i, asks = at + 2'000'000, ends = at + 6'000'000;
    text += fmt::format("{} main task_spawn t{} c1 p m2\n", at, 2 * i + 1);
    one += fmt::format(
        "{0} w1 task_start t{1}\n{0} w1 receive {2} 10\n{3} w1 task_spawn t{4} c2 p m3\n{3} w1 block_begin park c9\n"
        "{5} w1 block_end park\n{5} w1 send {2} 10\n{5} w1 task_end t{1}\n",
        at, 2 * i + 1, i % 2 == 0 ? "a" : "b", asks, 2 * i + 2, ends);
    other += fmt::format("{0} w2 task_start t{1}\n{2} w2 wake w1\n{2} w2 task_end t{1}\n", asks, 2 * i + 2, ends);
  }
  const Fixture service(text + one + other);
  EXPECT_NEAR(per_second(service.run({.clients = 1, .requests = 100})), 1000.0 / 6, 2);
  const LoadRun run = service.run({.clients = 3, .requests = 100});
  ASSERT_FALSE(run.simulation.stuck.empty());
  EXPECT_THAT(run.simulation.stuck.front().reason, testing::HasSubstr("no worker of pool p is free"));
  EXPECT_EQ(run.simulation.stuck.front().lacks, StuckTask::Lacks::worker_of_its_pool);
  const Variant more{.pool_sizes = {{model::PoolId(0), 4}}};
  EXPECT_TRUE(service.run({.clients = 3, .requests = 100}, more).simulation.stuck.empty());
}

// 2 ms on a core: with many workers, one core serves 500 a second.
TEST(Load, ACoreSaturates) {
  const Fixture service(pooled_requests(10));
  const Variant variant{.pool_sizes = {{model::PoolId(0), 64}}};
  EXPECT_NEAR(per_second(service.run({.clients = 64, .requests = 2000}, variant, {.cores = 1})), 500, 15);
}

TEST(Load, OpenRequestsComeWhateverAnswersTake) {
  const Fixture service(pooled_requests(10));
  const LoadRun run = service.run({.open = true, .per_second = 400, .gaps = {1.0}, .requests = 400});
  EXPECT_NEAR(static_cast<double>(run.served[399].arrived_ns - run.served[0].arrived_ns), 399 * 2.5e6, 10);
  // Twice as many come as two workers serve.
  EXPECT_GT(run.served[399].answered_ns - run.served[399].arrived_ns, 900'000'000);
}

TEST(Load, EqualSeedsGiveEqualRuns) {
  const Fixture service(pooled_requests(10));
  const Load load{.open = true, .per_second = 150, .requests = 300, .seed = 7};
  const LoadRun one = service.run(load), other = service.run(load);
  for (size_t i = 0; i < one.served.size(); ++i) EXPECT_EQ(one.served[i].answered_ns, other.served[i].answered_ns);
}

// A loop of one thread is a worker that serves one request after the other.
TEST(Load, AnEventLoopServesOneAtATime) {
  std::string text(kConnections);
  for (int i = 0; i < 10; ++i) {
    const int64_t at = 50'000'000LL * i;
    text +=
        fmt::format("{} w1 block_begin poll -\n{} w1 block_end poll\n", i == 0 ? 0 : at - 25'000'000, at + 20'000'000);
    text += fmt::format("{} w1 receive {} 10\n{} w1 send {} 10\n", at + 20'000'000, i % 2 == 0 ? "a" : "b",
                        at + 25'000'000, i % 2 == 0 ? "a" : "b");
  }
  text += "475000000 w1 block_begin poll -\n600000000 w1 block_end poll\n600000000 w1 thread_end\n";
  const Fixture service(text);
  EXPECT_NEAR(per_second(service.run({.clients = 4, .requests = 200})), 200, 4);
}

// The loop takes 1 ms of each request, and one of two workers that wait in a queue of the program's own 20 ms.
TEST(Load, AThreadThatAnswersForAnotherIsAWorker) {
  std::string text(kConnections), worker;
  for (int i = 0; i < 10; ++i) {
    const int64_t at = 50'000'000LL * i;
    const char* connection = i % 2 == 0 ? "a" : "b";
    text += fmt::format("{0} main block_begin poll -\n{1} main block_end poll\n{1} main receive {2} 10\n",
                        i == 0 ? 0 : at - 29'000'000, at + 20'000'000, connection);
    worker += fmt::format("{0} w1 block_begin park -\n{1} w1 block_end park\n{2} w1 send {3} 10\n",
                          i == 0 ? 0 : at - 9'000'000, at + 21'000'000, at + 41'000'000, connection);
  }
  text += "471000000 main block_begin poll -\n600000000 main block_end poll\n600000000 main thread_end\n";
  text += worker + "491000000 w1 block_begin park -\n600000000 w1 block_end park\n600000000 w1 thread_end\n";
  const Fixture service(text);
  ASSERT_EQ(service.requests.all.size(), 10u);
  EXPECT_TRUE(service.requests.all[0].second.exists());
  const LoadRun run = service.run({.clients = 4, .requests = 200});
  ASSERT_TRUE(run.simulation.stuck.empty()) << run.simulation.stuck.front().reason;
  EXPECT_NEAR(per_second(run), 50, 1);
}

// Time for handing over a task of the request stays with it where the task is copied, and is computing where it is not.
// A handler of 2 ms asks a loop of the same program, which takes 8 ms for each: however many handlers there are, 125 a second.
TEST(Load, WhatARequestAsksOfItsOwnProgramIsServedThere) {
  std::string text = std::string(kConnections) + "connection in accepted 90 6001\nconnection out connected 6001 90\n";
  std::string handlers, loop = "0 w2 block_begin poll -\n";
  for (int i = 0; i < 10; ++i) {
    const int64_t at = 50'000'000LL * i, asked = at + 2'000'000, answered = at + 10'000'000;
    text += fmt::format("{} main task_spawn t{} c1 p m2\n", at, i + 1);
    handlers += fmt::format(
        "{0} w1 task_start t{1}\n{0} w1 receive a 10\n{2} w1 send out 5\n{2} w1 block_begin io -\n{3} w1 block_end io\n"
        "{3} w1 receive out 7\n{3} w1 send a 10\n{3} w1 task_end t{1}\n",
        at, i + 1, asked, answered);
    loop += fmt::format(
        "{0} w2 block_end poll\n{0} w2 receive in 5\n{0} w2 block_begin sleep -\n{1} w2 block_end sleep\n"
        "{1} w2 send in 7\n{1} w2 block_begin poll -\n",
        asked, answered);
  }
  const Fixture service(text + handlers + loop);
  EXPECT_EQ(service.requests.all.size(), 10u);
  EXPECT_NEAR(per_second(service.run({.clients = 1, .requests = 100})), 100, 1);
  const Variant variant{.pool_sizes = {{model::PoolId(0), 4}}};
  EXPECT_NEAR(per_second(service.run({.clients = 8, .requests = 400}, variant)), 125, 3);
}

// Threads of two processes, with names that are alike: those of one process are no workers of the other. A handler waits for 8 of
// its 10 ms for the backend.
TEST(Load, WhatOneProcessAsksOfAnotherIsServedByThatOnesThreads) {
  std::string text = "fact process.0 \"2 3 0 17 gateway\"\nfact process.1 \"3 3 0 18 backend\"\n" +
                     std::string(kConnections) +
                     "connection in accepted 90 6001\nconnection out connected 6001 90\n0 main thread_begin\n";
  std::string handler = "0 w1 block_begin io -\n", backend = "0 w2 block_begin io -\n";
  for (int i = 0; i < 10; ++i) {
    const int64_t at = 50'000'000LL * (i + 1), asked = at + 2'000'000, answered = at + 10'000'000;
    handler += fmt::format(
        "{0} w1 block_end io\n{0} w1 receive {3} 10\n{1} w1 send out 5\n{4} w1 block_begin io -\n{2} w1 block_end io\n"
        "{2} w1 receive out 7\n{2} w1 send {3} 10\n{5} w1 block_begin io -\n",
        at, asked, answered, i % 2 == 0 ? "a" : "b", asked + 1'000, answered + 1'000);
    backend += fmt::format(
        "{0} w2 block_end io\n{0} w2 receive in 5\n{0} w2 block_begin sleep -\n{1} w2 block_end sleep\n"
        "{1} w2 send in 7\n{2} w2 block_begin io -\n",
        asked, answered, answered + 1'000);
  }
  const Fixture service(text + handler + backend);
  EXPECT_EQ(service.requests.all.size(), 10u);
  EXPECT_EQ(service.requests.inner.size(), 10u);
  EXPECT_NEAR(per_second(service.run({.clients = 8, .requests = 400})), 100, 2);
  const base::Result<RequestRun> run = with_request_tasks(service.facts, service.requests);
  ASSERT_TRUE(run.ok()) << run.error().message;
  std::vector<std::string> names;
  for (size_t i = service.trace.pools.size(); i < run->trace.pools.size(); ++i) {
    names.emplace_back(run->trace.string(run->trace.pools[i].name));
    EXPECT_EQ(run->trace.pools[i].max_size, 1u);
  }
  EXPECT_THAT(names, testing::UnorderedElementsAre("w# of gateway", "w# of backend"));
}

// The thread that hands requests on computes for a second when the program starts, and then half a millisecond for each.
TEST(Load, WhoHandsRequestsOnIsCountedWhileTheyAreServed) {
  std::string text = std::string(kConnections) + "fact cores 1\n0 main thread_begin\n", workers;
  std::string cpu = "cpu main 1 200000000 blocked\ncpu main 1200000000 ";
  for (int i = 0; i < 40; ++i) {
    const int64_t at = 2'000'000'000LL + 50'000'000LL * i;
    cpu += fmt::format("{} blocked\ncpu main {} ", at - 500'000, at + 1'000);
    text += fmt::format("{} main task_spawn t{} c1 p m2\n", at, i + 1);
    workers += fmt::format("{0} w1 task_start t{1}\n{0} w1 receive {2} 10\n{3} w1 send {2} 10\n{3} w1 task_end t{1}\n",
                           at, i + 1, i % 2 == 0 ? "a" : "b", at + 1'000'000);
  }
  text += "5000000000 main thread_end\n";
  const Fixture service(text + workers + cpu + "5000000000 blocked\n");
  EXPECT_NEAR(per_second(service.run({.clients = 4, .requests = 1000}, {}, {.cores = 1})), 1e3 / 1.5, 15);
}

TEST(Load, TimeForHandingOverIsCopied) {
  std::string text(kConnections);
  text += "fact recording.ns.task_spawn 100\nfact recording.ns.task_start 100\n";
  std::string workers;
  for (int i = 0; i < 6; ++i) {
    const int64_t at = 50'000'000LL * i;
    const char* connection = i % 2 == 0 ? "a" : "b";
    text += fmt::format("{} main task_spawn t{} c1 p m2\n", at, 2 * i + 1);
    workers += fmt::format(
        "{0} w1 task_start t{1}\n{0} w1 receive {2} 10\n{3} w1 task_spawn t{4} c2 f m3\n{3} w1 task_handed\n"
        "{3} w1 wait_begin t{4} c2\n{5} w1 task_start t{4}\n{6} w1 task_complete t{4}\n{6} w1 task_end t{4}\n"
        "{6} w1 wait_end t{4}\n{6} w1 send {2} 10\n{6} w1 task_end t{1}\n",
        at, 2 * i + 1, connection, at + 2'000'000, 2 * i + 2, at + 2'500'000, at + 8'000'000);
  }
  const Fixture service(text + workers);
  const LoadRun run = service.run({.clients = 1, .requests = 50});
  ASSERT_TRUE(run.simulation.stuck.empty());
  EXPECT_NEAR(static_cast<double>(run.served[20].answered_ns - run.served[20].arrived_ns), 8e6, 6e5);
}

TEST(Load, AChangeOfTheNumberOfTasksIsRefused) {
  const Fixture service(pooled_requests(10));
  const Variant variant{.merges = {{{model::TaskId(0), model::TaskId(1)}, 2}}};
  EXPECT_FALSE(service.simulator->simulate(variant, {}).ok());
}

// A native event loop on one core, which computes 1 ms for each request.
std::string computing_loop(int count) {
  std::string text = "fact agent native\n" + std::string(kConnections);
  for (int i = 0; i < count; ++i) {
    const int64_t at = 50'000'000LL * i;
    text += fmt::format("cpu w1 {} {} blocked\n", i == 0 ? 1 : at - 29'000'000 + 1, at + 20'000'000);
    text +=
        fmt::format("{} w1 block_begin poll -\n{} w1 block_end poll\n", i == 0 ? 0 : at - 29'000'000, at + 20'000'000);
    text += fmt::format("{} w1 receive {} 10\n{} w1 send {} 10\n", at + 20'000'000, i % 2 == 0 ? "a" : "b",
                        at + 21'000'000, i % 2 == 0 ? "a" : "b");
  }
  return text + "571000000 w1 block_begin poll -\n600000000 w1 block_end poll\n600000000 w1 thread_end\n";
}

// Clients have computers of their own: at 0.9 of what the core can do, requests queue for it, and none comes later because it is
// busy.
TEST(Load, ClientsNeedNoCoreOfTheServer) {
  const Fixture service(computing_loop(12));
  const LoadRun run = service.run({.open = true, .per_second = 900, .requests = 2000}, {}, {.cores = 1});
  const auto span_ns = static_cast<double>(run.served.back().arrived_ns - run.served.front().arrived_ns);
  EXPECT_NEAR(2000 / (span_ns / 1e9), 900, 5);
  double sum_ms = 0;
  for (const ServedRequest& request : run.served)
    sum_ms += static_cast<double>(request.answered_ns - request.arrived_ns) / 1e6;
  EXPECT_GT(sum_ms / 2000, 3.0);  // of equal requests at random (M/D/1): 1 + 0.9 / (2 * 0.1) = 5.5 ms in the long run
  EXPECT_LT(sum_ms / 2000, 9.0);
}

// Two loops, of which each computes 1 ms for each request of a connection of its own.
TEST(Load, ThreadsThatServeRequestsThatAreLeftOutComputeForNoOthers) {
  std::string text = "fact agent native\n" + std::string(kConnections);
  for (const auto& [thread, connection] : {std::pair("w1", "a"), std::pair("w2", "b")}) {
    int64_t slept = 0;
    for (int i = 0; i < 20; ++i) {
      const int64_t at = 50'000'000LL * (i + 1);
      text += fmt::format(
          "cpu {0} {1} {2} blocked\n{3} {0} block_begin poll -\n{2} {0} block_end poll\n{2} {0} receive {4} 10\n{5} "
          "{0} "
          "send {4} 10\n",
          thread, slept + 1, at, slept, connection, at + 1'000'000);
      slept = at + 1'000'000;
    }
    text +=
        fmt::format("cpu {0} {1} {2} blocked\n{3} {0} block_begin poll -\n{2} {0} block_end poll\n{2} {0} thread_end\n",
                    thread, slept + 1, slept + 9'000'000, slept);
  }
  const Fixture service(text);
  model::Requests requests = service.requests;
  ASSERT_EQ(requests.all.size(), 40u);
  const uint32_t other = requests.all[0].answered;  // of the first loop
  for (model::Request& request : requests.all) {
    if (request.connection != requests.all[0].connection) request.answered = other;
  }
  const base::Result<LoadSimulator> simulator = LoadSimulator::make(service.facts, requests);
  ASSERT_TRUE(simulator.ok());
  ASSERT_EQ(simulator->templates().all().size(), 20u);
  EXPECT_EQ(simulator->templates().beside_ns(), 0);
}

// The listener polls for 1 ms of each request's time and wakes one of two threads, which computes for 4 ms.
TEST(Load, WhoWakesThoseThatServeComputesForRequests) {
  std::string text = "fact agent native\nlock q condition\nlock m mutex\n" + std::string(kConnections), worker;
  std::string cpu;
  for (int i = 0; i < 20; ++i) {
    const int64_t at = 50'000'000LL * i;
    const char* connection = i % 2 == 0 ? "a" : "b";
    cpu += fmt::format("cpu main {} {} blocked\ncpu w1 {} {} blocked\n", i == 0 ? 1 : at - 29'000'000 + 1,
                       at + 20'000'000, i == 0 ? 1 : at - 24'900'000, at + 21'000'000);
    text += fmt::format("{0} main block_begin poll -\n{1} main block_end poll\n{2} main sync_signal q -\n",
                        i == 0 ? 0 : at - 29'000'000, at + 20'000'000, at + 21'000'000);
    worker += fmt::format("{0} w1 sync_wait q -\n{1} w1 sync_woken q\n{1} w1 receive {2} 10\n{3} w1 send {2} 10\n",
                          i == 0 ? 0 : at - 25'000'000, at + 21'000'000, connection, at + 25'000'000);
  }
  text += "971000000 main block_begin poll -\n999000000 main block_end poll\n999000000 main thread_end\n";
  worker += "975000000 w1 sync_wait q -\n999000000 w1 sync_woken q timeout\n999000000 w1 thread_end\n";
  cpu += "cpu main 971000001 999000000 blocked\ncpu w1 975000001 999000000 blocked\n";
  const Fixture service(text + cpu + worker);
  ASSERT_EQ(service.requests.all.size(), 20u);
  EXPECT_NEAR(per_second(service.run({.clients = 4, .requests = 400}, {}, {.cores = 1})), 200, 6);
}

// A loop's first request behind a sleep takes 1.5 ms, the second one in the same turn 1 ms.
TEST(Load, OnlyRequestsThatFindTheCoreIdleTakeLongerForThat) {
  std::string text = "fact agent native\n" + std::string(kConnections), cpu;
  for (int i = 0; i < 120; ++i) {
    const int64_t at = 50'000'000LL * i;
    const int64_t polls = i == 0 ? 0 : at - 27'500'000;
    cpu += fmt::format("cpu w1 {} {} blocked\n", polls + 1, at + 20'000'000);
    text += fmt::format("{} w1 block_begin poll -\n{} w1 block_end poll\n", polls, at + 20'000'000);
    text += fmt::format("{} w1 receive a 10\n{} w1 send a 10\n{} w1 receive b 10\n{} w1 send b 10\n", at + 20'000'000,
                        at + 21'500'000, at + 21'500'000, at + 22'500'000);
  }
  const int64_t end = 50'000'000LL * 120;
  cpu += fmt::format("cpu w1 {} {} blocked\n", end - 27'500'000 + 1, end);
  const Fixture service(
      text +
      fmt::format("{} w1 block_begin poll -\n{} w1 block_end poll\n{} w1 thread_end\n", end - 27'500'000, end, end) +
      cpu);
  EXPECT_NEAR(per_second(service.run({.clients = 2, .requests = 400}, {}, {.cores = 1})), 1000, 20);
  const LoadRun few = service.run({.open = true, .per_second = 5, .requests = 200}, {}, {.cores = 1});
  double sum_ms = 0;
  for (const ServedRequest& request : few.served)
    sum_ms += static_cast<double>(request.answered_ns - request.arrived_ns) / 1e6;
  EXPECT_NEAR(sum_ms / 200, 1.5, 0.08);
}

constexpr std::string_view kRefills = "fact core.refill_ns \"500000:100000 10000000:1000000\"\n";

int64_t shorter_if_awake(int64_t time_ns) {
  return time_ns / 500'000'000 % 2 == 1 ? 1'500'000 : 2'000'000;
}

// A request comes every 20 ms to a core that is idle, and takes `takes_ns` from then on; by kRefills 1 ms of that to fill the caches.
std::string requests_on_an_idle_core(
    int count, std::string_view facts = kRefills,
    const std::function<int64_t(int64_t)>& takes_ns = [](int64_t) { return 2'000'000; }) {
  std::string text = std::string(kConnections) + "fact cores 1\n" + std::string(facts), cpu;
  for (int i = 0; i <= count; ++i) {
    const int64_t at = 20'000'000LL * (i + 1), before = at - 20'000'000, slept = i == 0 ? 0 : before + takes_ns(before);
    cpu += fmt::format("cpu w1 {} {} blocked\n", slept + 1, at);
    text += fmt::format("{} w1 block_begin poll -\n{} w1 block_end poll\n", slept, at);
    if (i == count) return text + fmt::format("{} w1 thread_end\n", at) + cpu;
    text += fmt::format("{0} w1 receive {1} 10\n{2} w1 send {1} 10\n", at, i % 2 == 0 ? "a" : "b", at + takes_ns(at));
  }
  return text;
}

double mean_ms(const LoadRun& run) {
  double sum_ms = 0;
  for (const ServedRequest& request : run.served)
    sum_ms += static_cast<double>(request.answered_ns - request.arrived_ns) / 1e6;
  return sum_ms / static_cast<double>(run.served.size());
}

TEST(Load, WhatIdleCoresCostIsMeasuredWhereTheyWereKeptAwakeInTurns) {
  const std::string turns = "fact cores.awake_ns 500000000\n";
  const SimulateOptions one_core{.cores = 1};
  for (const std::string& facts : {turns, turns + std::string(kRefills)}) {
    const Fixture service(requests_on_an_idle_core(400, facts, shorter_if_awake));
    EXPECT_NEAR(per_second(service.run({.clients = 4, .requests = 1000}, {}, one_core)), 1e3 / 1.5, 15) << facts;
    EXPECT_NEAR(mean_ms(service.run({.open = true, .per_second = 20, .gaps = {1.0}, .requests = 200}, {}, one_core)), 2,
                0.02)
        << facts;
    EXPECT_LT(service.simulator->templates().refill_error(), 0.01);
  }
}

// From 7 s on no core was kept awake, and a quarter of the requests that are drawn came then (of a JVM, from 4 s on): what idle cores cost
// them is an estimate, by those before.
TEST(Load, WhatIdleCoresCostIsMeasuredUntilTheyWereNoLongerKeptAwake) {
  const std::string turns = "fact cores.awake_ns 500000000\n" + std::string(kRefills);
  const auto takes_ns = [](int64_t time_ns) { return time_ns < 7'000'000'000 ? shorter_if_awake(time_ns) : 2'000'000; };
  const Fixture service(requests_on_an_idle_core(400, turns + "fact cores.awake_until_ns 7000000000\n", takes_ns));
  EXPECT_NEAR(per_second(service.run({.clients = 4, .requests = 1000}, {}, {.cores = 1})), 1e3 / 1.5, 15);
  EXPECT_NEAR(service.simulator->templates().refill_error(), 0.25 * 0.5 * 0.25, 0.005);
}

TEST(Load, IdleCoresThatCostNothingAreKnownForThatByTheTurns) {
  const Fixture service(requests_on_an_idle_core(400, "fact cores.awake_ns 500000000\n" + std::string(kRefills)));
  EXPECT_NEAR(per_second(service.run({.clients = 4, .requests = 1000}, {}, {.cores = 1})), 500, 10);
}

TEST(Load, FewRequestsInTurnsLeaveTheEstimate) {
  const Fixture service(
      requests_on_an_idle_core(60, "fact cores.awake_ns 500000000\n" + std::string(kRefills), shorter_if_awake));
  EXPECT_GT(service.simulator->templates().refill_error(), 0.1);
}

TEST(Load, RequestsThatDifferMuchAmongThemselvesLeaveTheEstimate) {
  const auto takes_ns = [](int64_t at) { return at / 20'000'000 % 5 == 0 ? 15'000'000 : 1'100'000; };
  const Fixture service(
      requests_on_an_idle_core(400, "fact cores.awake_ns 500000000\n" + std::string(kRefills), takes_ns));
  EXPECT_GT(service.simulator->templates().refill_error(), 0.02);
  EXPECT_LT(service.simulator->templates().refill_error(), 0.2);
}

// A JVM compiles for longer than the first half lasts.
TEST(Load, RequestsAreDrawnFromThoseThatGetNoFaster) {
  const auto takes_ns = [](int64_t at) { return at < 10'000'000'000 ? 3'000'000 : 2'000'000; };
  const std::string text = requests_on_an_idle_core(1000, "", takes_ns);  // 500 take 3 ms
  const SimulateOptions one_core{.cores = 1};
  const Load clients{.clients = 4, .requests = 1000};
  const Fixture jvm(text), native("fact agent native\n" + text);
  EXPECT_NEAR(per_second(jvm.run(clients, {}, one_core)), 500, 5);
  EXPECT_THAT(jvm.simulator->templates().notes(),
              testing::Contains(testing::HasSubstr("the first 500 of these requests are not drawn")));
  EXPECT_NEAR(per_second(native.run(clients, {}, one_core)), 400, 10);
}

TEST(Load, FillingCachesAgainTakesTimeWhereACoreWasIdleForLong) {
  const std::string agents[] = {
      "", "fact agent native\n"};  // of which the first shares cores evenly, the other hands them out in turns
  for (const std::string& agent : agents) {
    const Fixture service(agent + requests_on_an_idle_core(100));
    const SimulateOptions one_core{.cores = 1};
    EXPECT_NEAR(per_second(service.run({.clients = 4, .requests = 1000}, {}, one_core)), 1000, 20) << agent;
    EXPECT_NEAR(mean_ms(service.run({.open = true, .per_second = 20, .gaps = {1.0}, .requests = 200}, {}, one_core)), 2,
                0.02)
        << agent;
    // Of each 2 ms, the core computes for 1.135 and is idle for 0.865.
    EXPECT_NEAR(mean_ms(service.run({.open = true, .per_second = 500, .gaps = {1.0}, .requests = 500}, {}, one_core)),
                1.135, 0.02)
        << agent;
  }
}

// 2 ms on a core for each request, of which half is left: nothing is slower while that is not used up.
TEST(Load, ALimitOfHalfACoreHalvesWhatACoreServes) {
  const Fixture service("fact cores 1\nfact cpu.quota 0.50\n" + pooled_requests(10));
  const Variant variant{.pool_sizes = {{model::PoolId(0), 64}}};
  const LoadRun saturated = service.run({.clients = 64, .requests = 2000}, variant);
  EXPECT_NEAR(per_second(saturated), 250, 8);
  EXPECT_GT(saturated.simulation.core_utilisation, 0.97);
  EXPECT_NEAR(per_second(service.run({.clients = 64, .requests = 2000}, variant, {.cores = 1, .whole_cores = true})),
              500, 15);
  EXPECT_NEAR(mean_ms(service.run({.open = true, .per_second = 20, .gaps = {1.0}, .requests = 200}, variant)), 10, 0.1);
}

TEST(Load, ALimitHoldsWhereCoresAreHandedOutInTurns) {
  const Fixture service("fact agent native\nfact cpu.quota 0.50\n" + requests_on_an_idle_core(100));
  EXPECT_NEAR(per_second(service.run({.clients = 4, .requests = 1000})), 500, 20);  // 1 ms each
}

// An event loop computes for 1 ms, waits for a timer for 5 ms, in which it takes another request up in every second case, and computes
// for 1 ms until it answers.
std::string requests_of_a_timer(int count) {
  std::string text(kConnections), cpu;
  int64_t idle_ns = 0;
  const auto turn = [&](int64_t from_ns, int64_t until_ns, const std::string& events) {
    cpu += fmt::format("cpu w1 {} {} blocked\n", idle_ns + 1, from_ns);
    text += fmt::format("{} w1 block_begin poll -\n{} w1 block_end poll\n{}", idle_ns, from_ns, events);
    idle_ns = until_ns;
  };
  for (int i = 0; i < count; ++i) {
    const int64_t at = 50'000'000LL * (i + 1), ms = 1'000'000;
    const auto receive = [](int64_t ns, const char* connection) {
      return fmt::format("{} w1 receive {} 10\n", ns, connection);
    };
    const auto send = [](int64_t ns, const char* connection) {
      return fmt::format("{} w1 send {} 10\n", ns, connection);
    };
    turn(at, at + ms, receive(at, "a"));
    if (i % 2 == 0) turn(at + 3 * ms, at + 4 * ms, receive(at + 3 * ms, "b"));
    turn(at + 6 * ms, at + 7 * ms, send(at + 7 * ms, "a"));
    if (i % 2 == 0) turn(at + 9 * ms, at + 10 * ms, send(at + 10 * ms, "b"));
  }
  turn(idle_ns + 40'000'000, idle_ns + 40'000'000, "");
  return text + fmt::format("{} w1 thread_end\n", idle_ns) + cpu;
}

TEST(Load, ALoopIsFreeWhileARequestWaits) {
  for (const std::string agent : {"", "fact agent native\n"}) {
    const Fixture service("fact cores 1\n" + agent + requests_of_a_timer(60));
    EXPECT_EQ(service.requests.all.size(), 90u);
    EXPECT_NEAR(per_second(service.run({.clients = 1, .requests = 100})), 1000.0 / 7, 1) << agent;
    EXPECT_NEAR(per_second(service.run({.clients = 16, .requests = 1000})), 500, 10) << agent;
  }
}

}  // namespace
}  // namespace contrafact::whatif
