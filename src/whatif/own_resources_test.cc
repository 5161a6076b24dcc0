#include "whatif/own_resources.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <regex>
#include <string>
#include <vector>

#include "whatif/load.h"
#include "whatif/load_templates.h"
#include "whatif/simulated_text_for_test.h"

namespace contrafact::whatif {
namespace {

constexpr std::string_view kRows =
    "fact agent native\nfact cores 8\nlock m mutex\nlock q condition\nlock s semaphore\nthread w3\n"
    "connection a accepted 80 5001\nconnection b accepted 80 5002\nconnection c accepted 80 5003\n"
    "method take Pool.acquire pool.cc:10\ncontext take - take:12\ncontext wait - take:14\n"
    "method give Pool.release pool.cc:20\ncontext give - give:21\n";
constexpr std::string_view kName = "Pool.acquire";
constexpr int64_t kRoundNs = 50'000'000, kHeldNs = 8'000'000;

// Behind a giver: every other time the third thread asks for the mutex while the first one has it to give its object back.
enum class How { condition, condition_with_retry, condition_behind_a_giver, semaphore, handed_by_main };

struct Taking {
  int64_t time_ns;  // when it has one
  std::string text;
};

// Asks at that time; gets one then, or at `woken_ns`.
Taking taking(How how, const std::string& thread, int64_t at_ns, int64_t woken_ns) {
  const auto line = [&](int64_t ns, std::string_view words) { return fmt::format("{} {} {}\n", ns, thread, words); };
  if (how == How::semaphore) {
    if (woken_ns == 0) return {at_ns, line(at_ns, "lock_acquire s take")};
    return {woken_ns, line(at_ns, "lock_request s take") + line(woken_ns, "lock_acquired s")};
  }
  std::string text = line(at_ns, "lock_acquire m take");
  if (woken_ns > 0) {
    text += line(at_ns + 10, "lock_release m take") + line(at_ns + 10, "sync_wait q wait");
    if (how == How::condition_with_retry) {
      const int64_t first_ns = (at_ns + woken_ns) / 2;  // another thread was faster
      text += line(first_ns, "sync_woken q") + line(first_ns, "lock_acquire m wait") +
              line(first_ns + 10, "lock_release m wait") + line(first_ns + 10, "sync_wait q wait");
    }
    text += line(woken_ns, "sync_woken q") + line(woken_ns, "lock_acquire m wait");
    at_ns = woken_ns;
  }
  return {at_ns + 20, text + line(at_ns + 20, "lock_release m take")};
}

// Asks for the mutex while a giver has it for another 10 ns.
Taking taking_behind(const std::string& thread, int64_t at_ns) {
  return {at_ns + 10, fmt::format("{1} {0} lock_request m take\n{2} {0} lock_acquired m\n{2} {0} lock_release m take\n", thread,
                                  at_ns, at_ns + 10)};
}

std::string giving(How how, const std::string& thread, int64_t at_ns) {
  const auto line = [&](int64_t ns, std::string_view words) { return fmt::format("{} {} {}\n", ns, thread, words); };
  if (how == How::semaphore) return line(at_ns, "sync_signal s give");
  return line(at_ns, "lock_acquire m give") + line(at_ns + 20, "lock_release m give") +
         line(at_ns + 30, "sync_signal q give");
}

// A thread for each of three connections, and two objects, which a request holds for 8 ms. All three ask at the same time, so that the
// third waits.
std::string service(How how, int rounds = 10) {
  std::array<std::string, 3> threads;
  std::string main;
  std::array<int64_t, 3> idle_ns{};
  for (int round = 0; round < rounds; ++round) {
    const int64_t at_ns = kRoundNs * round + 20'000'000;
    int64_t given_ns = 0;  // by the first thread
    for (int k = 0; k < 3; ++k) {
      const std::string thread = fmt::format("w{}", k + 1), connection(1, static_cast<char>('a' + k));
      const bool is_late = how == How::condition_behind_a_giver && k == 2 && round % 2 == 0;
      const int64_t begin_ns = is_late ? given_ns : at_ns + 100 * k;
      const int64_t woken_ns = k == 2 && !is_late ? at_ns + kHeldNs + 1000 : 0;
      const Taking took = is_late ? taking_behind(thread, begin_ns + 10) : taking(how, thread, begin_ns + 10, woken_ns);
      const int64_t held_ns = took.time_ns + 20, end_ns = held_ns + kHeldNs;
      threads[k] += fmt::format("{0} {1} block_begin poll -\n{2} {1} block_end poll\n{2} {1} receive {3} 10\n",
                                idle_ns[k], thread, begin_ns, connection);
      threads[k] += took.text;
      threads[k] += fmt::format("{0} {1} block_begin sleep -\n{2} {1} block_end sleep\n", held_ns, thread, end_ns);
      if (how == How::handed_by_main)
        main += giving(how, "main", end_ns);
      else
        threads[k] += giving(how, thread, end_ns);
      if (k == 0) given_ns = end_ns;
      idle_ns[k] = end_ns + 100;
      threads[k] += fmt::format("{} {} send {} 10\n", idle_ns[k], thread, connection);
    }
  }
  std::string text(kRows);
  for (const std::string& one : threads) text += one;
  return text + main;
}

TEST(OwnResources, WhatIsTakenAndGivenUnderAMutexIsOne) {
  for (const How how : {How::condition, How::condition_with_retry}) {
    const model::Trace trace = parsed(service(how));
    const OwnResources found = own_resources(trace);
    ASSERT_EQ(found.all.size(), 1u);
    EXPECT_EQ(found.all[0].name, kName);
    EXPECT_EQ(found.all[0].size, 2u);
    EXPECT_EQ(found.all[0].waits, 10u);
    EXPECT_EQ(std::ranges::count(found.uses, ResourceUse::What::take, &ResourceUse::what), 30);
    EXPECT_EQ(std::ranges::count(found.uses, ResourceUse::What::give, &ResourceUse::what), 30);
  }
}

TEST(OwnResources, ASemaphoreThatTakersPostIsOne) {
  const OwnResources found = own_resources(parsed(service(How::semaphore)));
  ASSERT_EQ(found.all.size(), 1u);
  EXPECT_EQ(found.all[0].size, 2u);
}

TEST(OwnResources, WhatOneThreadHandsToAnotherIsNone) {
  EXPECT_TRUE(own_resources(parsed(service(How::handed_by_main))).all.empty());
}

// Each takes one of another kind first, by a method whose name merely begins like that.
TEST(OwnResources, HaveANumberOnlyWhereOthersHaveTheirName) {
  std::string text = service(How::semaphore);
  text = std::regex_replace(text, std::regex("(\\d+) (\\w+) lock_acquire s take\n"),
                            "$1 $2 lock_acquire z all\n$1 $2 lock_acquire s take\n");
  text = std::regex_replace(text, std::regex("(\\d+) (\\w+) lock_request s take\n"),
                            "$1 $2 lock_request z all\n$1 $2 lock_acquired z\n$1 $2 lock_request s take\n");
  text = std::regex_replace(text, std::regex("(\\d+) (\\w+) sync_signal s give\n"),
                            "$1 $2 sync_signal s give\n$1 $2 sync_signal z give\n");
  const OwnResources found =
      own_resources(parsed("method all Pool.acquire_all pool.cc:30\ncontext all - all:31\nlock z semaphore\n" + text));
  std::vector<std::string> names;
  for (const OwnResource& one : found.all) names.push_back(one.name);
  EXPECT_THAT(names, testing::ElementsAre("Pool.acquire_all", "Pool.acquire"));
}

double most_per_second(const model::Trace& trace, uint32_t resource_size) {
  const model::Facts facts(trace);
  const model::Requests requests = model::requests_by_connection(trace);
  base::Result<LoadSimulator> simulator = LoadSimulator::make(facts, requests);
  EXPECT_TRUE(simulator.ok());
  Variant variant;
  for (uint32_t i = 0; i < simulator->templates().pools().size() && resource_size > 0; ++i) {
    if (simulator->templates().pool_name(i) == kName) variant.pool_sizes.push_back({model::PoolId(i), resource_size});
  }
  EXPECT_EQ(variant.pool_sizes.empty(), resource_size == 0);
  SimulateOptions options;
  options.recorded_latencies = false;
  const base::Result<LoadRun> run = simulator->simulate(variant, {.clients = 8, .requests = 400}, options);
  EXPECT_TRUE(run.ok());
  int64_t last_ns = 0;
  for (const ServedRequest& request : run->served) last_ns = std::max(last_ns, request.answered_ns);
  return static_cast<double>(run->served.size()) * 1e9 / static_cast<double>(last_ns);
}

// Two objects for 8 ms each; with a third one, each of three threads is busy all the time.
TEST(OwnResources, UnderLoadTheyLimitTheService) {
  for (const How how : {How::condition, How::condition_with_retry, How::condition_behind_a_giver, How::semaphore}) {
    const model::Trace trace = parsed(service(how));
    EXPECT_NEAR(most_per_second(trace, 0), 250, 6);
    EXPECT_NEAR(most_per_second(trace, 3), 375, 9);
  }
}

// Where threads keep their lag: one that answers leaves its core before the next request comes.
TEST(OwnResources, AClientThatDoesNotThinkIsWokenAllTheSame) {
  for (const int64_t way_ns : {0, 50'000}) {
    const model::Trace trace = parsed((way_ns > 0 ? "fact system \"Linux 6.12.1 x86_64\"\n" : "") + service(How::condition));
    const model::Facts facts(trace);
    const base::Result<LoadSimulator> simulator = LoadSimulator::make(facts, model::requests_by_connection(trace));
    ASSERT_TRUE(simulator.ok());
    const base::Result<LoadRun> run = simulator->simulate({}, {.clients = 1, .requests = 20}, {});
    ASSERT_TRUE(run.ok());
    for (size_t i = 1; i < run->served.size(); ++i)
      EXPECT_EQ(run->served[i].arrived_ns - run->served[i - 1].answered_ns, way_ns);
  }
}

}  // namespace
}  // namespace contrafact::whatif
