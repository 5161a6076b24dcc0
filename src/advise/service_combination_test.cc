#include "advise/service_combination.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <utility>

#include "advise/service_for_test.h"
#include "advise/service_gain.h"
#include "improve/kinds/kinds.h"

namespace contrafact::advise {
namespace {

// Of sleeping_service(): two handlers, whose number alone limits what it answers.
struct Searched : ServiceForTest {
  explicit Searched(ServiceAdviceOptions options = {}) : ServiceForTest(sleeping_service(40)) {
    simulate();
    pricer.emplace(*facts, nullptr, PricerOptions{});
    base::Result<Saturation> saturated = service->saturation({}, true);
    base::Result<LoadPoint> at_load = service->at_load({}, 1);
    EXPECT_TRUE(saturated.ok() && at_load.ok());
    before = *std::move(saturated);
    load = *std::move(at_load);
    base::Result<WorthMeter> made = WorthMeter::make(*service, *pricer, {}, before, load);
    EXPECT_TRUE(made.ok());
    meter.emplace(*std::move(made));
    search.emplace(*service, *pricer, *meter, before, candidates, options);
  }
  // The changes, each beside those before it.
  Made made(const std::vector<improve::Candidate>& changes) const {
    Made all = search->nothing();
    for (const improve::Candidate& change : changes) {
      const std::optional<Worth> worth = search->worth_with(all, change);
      EXPECT_TRUE(worth.has_value());
      all.members.push_back({change, *worth});
      all.worth = *worth;
    }
    return all;
  }
  std::optional<Pricer> pricer;
  ServiceCandidates candidates;
  Saturation before;
  LoadPoint load;
  std::optional<WorthMeter> meter;
  std::optional<CombinationSearch> search;
};

improve::Candidate handlers(uint32_t size) {
  improve::Candidate candidate;
  candidate.pool = model::PoolId(0);
  candidate.improvement = {
      .optimisation = improve::kinds::pool_size, .pool = candidate.pool, .size_before = 2, .size_after = size};
  return candidate;
}

// The machine has more cores than the handlers can use.
improve::Candidate cores(uint32_t size) {
  improve::Candidate candidate;
  candidate.improvement = {.optimisation = improve::kinds::cores, .size_before = 2, .size_after = size};
  return candidate;
}

TEST(CombinationSearch, TheChangeThatIsWorthMostIsAdded) {
  const Searched searched;
  const std::vector<Tried> alone = searched.search->each_alone();
  ASSERT_EQ(alone.size(), 1u);
  const Made made = searched.search->grown(searched.search->nothing(), alone);
  ASSERT_EQ(made.members.size(), 1u);
  EXPECT_TRUE(is_same(made.members[0].candidate, handlers(4)));
  EXPECT_TRUE(made.worth.exceeds(searched.meter->recorded(), 3));
  EXPECT_GT(made.clients, searched.meter->clients());
}

TEST(CombinationSearch, AMemberWithoutWhichTheRestIsAsGoodGoes) {
  const Searched searched;
  Made made = searched.made({handlers(4), cores(4)});
  searched.search->drop_useless(made);
  ASSERT_EQ(made.members.size(), 1u);
  EXPECT_TRUE(is_same(made.members[0].candidate, handlers(4)));
}

TEST(CombinationSearch, OfTooManyTheOneGoesThatIsMissedLeast) {
  const Searched searched({.changes_max = 1});
  Made made = searched.made({handlers(4), cores(4)});
  searched.search->reduce(made);
  ASSERT_EQ(made.members.size(), 1u);
  EXPECT_TRUE(is_same(made.members[0].candidate, handlers(4)));
}

TEST(CombinationSearch, ASizeIsNoLargerThanItHasToBe) {
  const Searched searched;
  Made made = searched.made({handlers(64)});
  searched.search->tighten(made);
  EXPECT_LT(made.members[0].candidate.improvement.size_after, 20u);
  EXPECT_GE(made.members[0].candidate.improvement.size_after, 8u);
}

TEST(CombinationSearch, AMemberThatMayAddNothingGoesAndTheOthersSayWhatTheyAdd) {
  const Searched searched;
  Made made = searched.made({handlers(4), cores(4)});
  searched.search->drop_unsure(made);
  ASSERT_EQ(made.members.size(), 1u);
  ASSERT_TRUE(made.members[0].adds.has_value());
  EXPECT_TRUE(is_sure(*made.members[0].adds));
  EXPECT_NEAR(made.members[0].adds->share, 1, 0.05);
  EXPECT_FALSE(made.members[0].is_needed);
}

}  // namespace
}  // namespace contrafact::advise
