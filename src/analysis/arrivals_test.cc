#include "analysis/arrivals.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <random>

namespace contrafact::analysis {
namespace {

using model::Request;
using model::Requests;

constexpr int64_t kMs = 1'000'000;

// Answers that take from 1 to 20 ms, on `connections` connections; `next_ns` from an arrival and its answer's time.
template <typename Next>
Requests requests(uint32_t connections, uint32_t each, Next next_ns) {
  Requests made{.connections = connections};
  std::mt19937 random(7);
  for (uint32_t c = 0; c < connections; ++c) {
    int64_t at_ns = c * kMs;
    for (uint32_t i = 0; i < each; ++i) {
      const int64_t answer_ns = static_cast<int64_t>(1 + random() % 20) * kMs;
      made.all.push_back({.connection = c, .arrived_ns = at_ns, .answered_ns = at_ns + answer_ns});
      at_ns += next_ns(answer_ns);
    }
  }
  std::ranges::sort(made.all, {}, &Request::arrived_ns);
  return made;
}

TEST(Arrivals, ClientsThatAskAfterTheirAnswersAreClosed) {
  const Arrivals found = arrivals_of(requests(4, 100, [](int64_t answer_ns) { return answer_ns + 2 * kMs; }));
  EXPECT_FALSE(found.open);
  EXPECT_EQ(found.clients, 4u);
  EXPECT_EQ(found.thinks_ns.front(), 2 * kMs);
  EXPECT_EQ(found.thinks_ns.back(), 2 * kMs);
}

TEST(Arrivals, RequestsThatComeByTheClockAreOpen) {
  const Arrivals found = arrivals_of(requests(4, 100, [](int64_t) { return 40 * kMs; }));
  EXPECT_TRUE(found.open);
  EXPECT_NEAR(found.per_second, 100, 1);
}

// Users that think for a time of their own, between 0 and 100 ms, whatever the answer took.
// Each on a connection of its own.
Requests one_by_one(const std::vector<int64_t>& gaps_ns) {
  Requests made{.connections = static_cast<uint32_t>(gaps_ns.size())};
  int64_t at_ns = 0;
  for (const int64_t gap_ns : gaps_ns) {
    at_ns += gap_ns;
    made.all.push_back(
        {.connection = static_cast<uint32_t>(made.all.size()), .arrived_ns = at_ns, .answered_ns = at_ns});
  }
  return made;
}

TEST(Arrivals, OnlyGapsThatVaryAsChanceDoesAreThoseOfAPoissonProcess) {
  std::mt19937 random(5);
  std::exponential_distribution<double> by_chance(1.0 / (10 * kMs));
  std::vector<int64_t> gaps_ns;
  for (int i = 0; i < 400; ++i) gaps_ns.push_back(static_cast<int64_t>(by_chance(random)));
  EXPECT_TRUE(arrivals_of(one_by_one(gaps_ns)).poisson);
  EXPECT_FALSE(arrivals_of(one_by_one(std::vector<int64_t>(400, 10 * kMs))).poisson);
  for (size_t i = 0; i < gaps_ns.size(); i += 2) gaps_ns[i] = kMs / 10;  // they come in pairs
  EXPECT_FALSE(arrivals_of(one_by_one(gaps_ns)).poisson);
}

TEST(Arrivals, ThinkingThatVariesMoreThanAnswersIsStillClosed) {
  std::mt19937 random(3);
  const Arrivals found = arrivals_of(
      requests(8, 400, [&](int64_t answer_ns) { return answer_ns + static_cast<int64_t>(random() % 100) * kMs; }));
  EXPECT_FALSE(found.open);
}

// Requests that come by chance take whichever connection is free, and open one where none is.
Requests over_a_store(int count, double gap_ns, unsigned seed) {
  Requests made;
  std::mt19937 random(seed);
  std::exponential_distribution<double> by_chance(1 / gap_ns);
  std::vector<int64_t> free_at_ns;
  int64_t at_ns = 0;
  for (int i = 0; i < count; ++i) {
    at_ns += static_cast<int64_t>(by_chance(random));
    std::vector<uint32_t> free;
    for (uint32_t c = 0; c < free_at_ns.size(); ++c) {
      if (free_at_ns[c] <= at_ns) free.push_back(c);
    }
    const auto used = free.empty() ? static_cast<uint32_t>(free_at_ns.size()) : free[random() % free.size()];
    if (free.empty()) free_at_ns.emplace_back();
    free_at_ns[used] = at_ns + static_cast<int64_t>(8 + random() % 3) * kMs;
    made.all.push_back({.connection = used, .arrived_ns = at_ns, .answered_ns = free_at_ns[used]});
  }
  made.connections = static_cast<uint32_t>(free_at_ns.size());
  return made;
}

TEST(Arrivals, RequestsThatTakeAnyFreeConnectionAreOpen) {
  for (const unsigned seed : {1, 2, 3, 4, 5, 6, 7, 8}) {
    const Requests made = over_a_store(1500, 9.0 * kMs, seed);
    EXPECT_LT(made.connections, 10u);
    EXPECT_TRUE(arrivals_of(made).open) << seed;
  }
}

// Six clients that think by chance, 50 ms on average: as many requests a second, and as many connections.
TEST(Arrivals, ClientsThatThinkByChanceAreClosed) {
  std::mt19937 random(3);
  std::exponential_distribution<double> by_chance(1.0 / (50 * kMs));
  const Arrivals found = arrivals_of(
      requests(6, 250, [&](int64_t answer_ns) { return answer_ns + static_cast<int64_t>(by_chance(random)); }));
  EXPECT_FALSE(found.open);
}

// All at once, so that each comes while others are served.
TEST(Arrivals, ClientsThatComeInWavesAreClosed) {
  Requests made{.connections = 4};
  int64_t at_ns = 0;
  for (uint32_t i = 0; i < 1200; ++i) {
    at_ns += i % 4 == 0 && i > 0 ? (40 + 9 + (i / 4 - 1) % 3) * kMs : 0;  // 40 ms after the answers
    const int64_t own_ns = at_ns + (i % 4) * kMs / 10;
    made.all.push_back({.connection = i % 4, .arrived_ns = own_ns, .answered_ns = own_ns + (9 + i / 4 % 3) * kMs});
  }
  std::ranges::sort(made.all, {}, &Request::arrived_ns);
  EXPECT_FALSE(arrivals_of(made).open);
}

// A client fills the service, and the load begins seconds later.
TEST(Arrivals, APauseBeforeTheLoadIsNoGap) {
  Requests made{.connections = 2};
  made.all.push_back({.connection = 0, .arrived_ns = 0, .answered_ns = kMs});
  for (uint32_t i = 0; i < 1000; ++i)
    made.all.push_back({.connection = 1, .arrived_ns = (5000 + i) * kMs, .answered_ns = (5000 + i) * kMs + kMs / 2});
  const Arrivals found = arrivals_of(made);
  EXPECT_NEAR(found.per_second, 1000, 1);
  EXPECT_NEAR(found.gaps.back(), 1, 0.01);
  // While there is load, a request is under way for half of the time.
  EXPECT_NEAR(found.under_way, 0.5, 0.01);
  EXPECT_FALSE(found.open);
}

TEST(Arrivals, APauseBetweenTwoLoadsIsNoTimeToThink) {
  int i = 0;
  const Requests made = requests(4, 100, [&](int64_t answer_ns) {
    const bool is_pause = i++ % 100 == 50;
    return answer_ns + 2 * kMs + (is_pause ? 30'000 * kMs : 0);
  });
  const Arrivals found = arrivals_of(made);
  EXPECT_FALSE(found.open);
  EXPECT_EQ(found.clients, 4u);
  EXPECT_EQ(percentile_ns(found.thinks_ns, 0.5), 2 * kMs);
  EXPECT_LT(found.thinks_ns.back(), 300 * kMs);  // the clients' pauses begin and end at different times
  EXPECT_GT(found.under_way, 2);
}

TEST(Arrivals, ConnectionsOfOneRequestAreClosedIfAsManyAreAlwaysUnderWay) {
  Requests made{.connections = 300};
  for (uint32_t i = 0; i < 300; ++i)
    made.all.push_back({.connection = i, .arrived_ns = (i / 3) * 10 * kMs, .answered_ns = (i / 3 + 1) * 10 * kMs});
  EXPECT_FALSE(arrivals_of(made).open);
  EXPECT_EQ(arrivals_of(made).clients, 3u);
  for (uint32_t i = 0; i < 300; ++i) made.all[i].answered_ns = made.all[i].arrived_ns + (i % 30 == 0 ? 10 : 1) * kMs;
  EXPECT_TRUE(arrivals_of(made).open);
}

TEST(Arrivals, PercentilesAreValuesThatOccurred) {
  EXPECT_EQ(percentile_ns({1, 2, 3, 4}, 0.5), 2);
  EXPECT_EQ(percentile_ns({1, 2, 3, 4}, 0.99), 4);
  EXPECT_EQ(percentile_ns({}, 0.5), 0);
}

}  // namespace
}  // namespace contrafact::analysis
