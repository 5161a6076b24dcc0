#include "analysis/ulc.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "analysis/text_trace_for_test.h"
#include "model/random_trace_for_test.h"

namespace contrafact::analysis {
namespace {

using graph::PairKind;
using model::Trace;

constexpr std::string_view kHead =
    "method m .work w.cc:1\ncontext a - m:10\ncontext b - m:20\nlock l mutex\nlock k mutex\n"
    "access_set none complete\naccess_set reads complete 0+8:r\naccess_set adds complete 0+8:rwc\n"
    "thread x\nthread y\n";

std::string label(const SectionFacts& facts, uint32_t site) {
  return facts.sites.sites()[site].label;
}

// y waits 42 ns for x, which reads as y does. Next lock events: x ends at 80 (tag2), y at 100 (tag3). Without the wait
// y would be through at 58, so the later of the two would be x at 80: the cost is 20.
TEST(Ulc, ThePairsCostIsWhatTheLaterOfBothThreadsGains) {
  const Trace trace = parsed(std::string(kHead) +
                             "10 x lock_acquire l a\n20 y lock_request l b\n58 x accesses reads\n60 x lock_release l\n"
                             "62 y lock_acquired l\n80 x thread_end\n92 y accesses reads\n92 y lock_release l\n"
                             "100 y thread_end\n");
  const SectionFacts facts(trace);
  const UlcProfile profile = ulc_profile(facts);
  ASSERT_EQ(profile.sites.size(), 1u);
  EXPECT_EQ(label(facts, profile.sites[0].site), "work (w.cc:20)");
  EXPECT_EQ(profile.sites[0].pairs[PairKind::read_read], 1u);
  EXPECT_EQ(profile.sites[0].wait_ns, 42);
  EXPECT_EQ(profile.sites[0].cost_ns, 20);
  EXPECT_EQ(profile.sites[0].p, 1);
  EXPECT_EQ(label(facts, profile.by_code[0].first_site), "work (w.cc:10)");
  EXPECT_EQ(profile.recorded_ns, 90);   // from 10 to 100
  EXPECT_EQ(profile.conflicts_ns, 70);  // x needs until 80
  EXPECT_EQ(profile.sections, 2u);
  EXPECT_EQ(profile.gaps[0], 2u);
}

// If the first thread's next segment ends later anyway (the other schedule of the paper's figure 7), nothing is gained.
TEST(Ulc, APairWhoseFirstThreadEndsLaterCostsNothing) {
  const Trace trace = parsed(std::string(kHead) +
                             "10 x lock_acquire l a\n20 y lock_request l b\n58 x accesses reads\n60 x lock_release l\n"
                             "62 y lock_acquired l\n92 y accesses reads\n92 y lock_release l\n100 y thread_end\n"
                             "180 x thread_end\n");
  const UlcProfile profile = ulc_profile(SectionFacts(trace));
  EXPECT_EQ(profile.pairs.unnecessary(), 1u);
  EXPECT_EQ(profile.cost_ns, 0);
  EXPECT_EQ(profile.conflicts_ns, profile.recorded_ns);
}

// Two threads write in turns: the recorded order of that is kept, although without the lock nobody would wait.
TEST(Ulc, TheOrderOfConflictsIsNoLimit) {
  const Trace trace = parsed(std::string(kHead) +
                             "10 x lock_acquire l a\n20 y lock_request l b\n58 x accesses adds\n60 x lock_release l\n"
                             "60 y lock_acquired l\n61 x thread_end\n90 y accesses adds\n90 y lock_release l\n"
                             "100 y thread_end\n");
  const UlcProfile profile = ulc_profile(SectionFacts(trace));
  EXPECT_EQ(profile.pairs[PairKind::conflict], 1u);
  EXPECT_EQ(profile.conflicts_ns, profile.recorded_ns);
  EXPECT_EQ(profile.no_locks_ns, 51);  // x from 10 to 61, y from 20 to 60
}

TEST(Ulc, AConflictAndAnUnknownPairCostNothing) {
  const auto profile_of = [](std::string_view first, std::string_view second) {
    const Trace trace = parsed(std::string(kHead) + "10 x lock_acquire l a\n20 y lock_request l b\n" +
                               std::string(first) + "60 x lock_release l\n62 y lock_acquired l\n" +
                               std::string(second) + "92 y lock_release l\n100 y thread_end\n");
    return ulc_profile(SectionFacts(trace));
  };
  const UlcProfile conflict = profile_of("58 x accesses adds\n", "92 y accesses reads\n");
  EXPECT_EQ(conflict.pairs[PairKind::conflict], 1u);
  EXPECT_EQ(conflict.cost_ns, 0);
  const UlcProfile unknown = profile_of("58 x accesses reads\n", "");
  EXPECT_EQ(unknown.pairs[PairKind::unknown], 1u);
  EXPECT_EQ(unknown.pairs.unnecessary(), 0u);
  EXPECT_EQ(unknown.cost_ns, 0);
  EXPECT_EQ(unknown.gaps[static_cast<size_t>(format::SetGap::not_observed)], 1u);
  EXPECT_EQ(profile_of("58 x accesses none\n", "").pairs[PairKind::null_lock], 1u);
}

// The set of the outer section is the union over its segments; the inner section has only its own.
TEST(Ulc, NestedSectionsHaveWhatHappenedInsideThem) {
  const Trace trace = parsed(std::string(kHead) +
                             "0 x lock_acquire l a\n5 x accesses reads\n5 x lock_acquire k a\n8 x accesses adds\n"
                             "8 x lock_release k\n12 x accesses none\n12 x lock_release l\n");
  const SectionFacts facts(trace);
  ASSERT_EQ(facts.sections.size(), 2u);
  EXPECT_EQ(facts.sets.ranges_of(facts.sets.of_section[0]).front().flags,
            format::kAccessRead | format::kAccessWrite | format::kAccessChanged);
  const auto head = [&](size_t s) { return facts.sets.parts_of(facts.sets.head[s]); };
  const auto tail = [&](size_t s) { return facts.sets.parts_of(facts.sets.tail[s]); };
  EXPECT_EQ(facts.sets.ranges_of(head(0)[0].set).front().flags, format::kAccessRead);
  EXPECT_EQ(head(0)[0].length_ns, 5);
  EXPECT_EQ(tail(0)[0].length_ns, 4);
  EXPECT_TRUE(facts.sets.ranges_of(tail(0)[0].set).empty());
  EXPECT_EQ(tail(1)[0].length_ns, 3);
  EXPECT_EQ(facts.sets.of_section[1], head(1)[0].set);
}

// The section of x lacks the set of a segment; y waits within its section, where nothing has to be observed.
TEST(Ulc, ASegmentWithoutASetMakesTheSectionUnknown) {
  const Trace trace = parsed(std::string(kHead) +
                             "0 x lock_acquire l a\n5 x accesses reads\n5 x lock_acquire k a\n8 x lock_release k\n"
                             "12 x accesses none\n12 x lock_release l\n"
                             "20 y lock_acquire l a\n25 y accesses reads\n25 y lock_request k b\n"
                             "40 y lock_acquired k\n44 y accesses reads\n44 y lock_release k\n44 y lock_release l\n");
  const SectionFacts facts(trace);
  const auto is_complete = [&](uint32_t s) { return facts.sets.is_complete(facts.sets.of_section[s]); };
  EXPECT_FALSE(is_complete(0));  // l, by x
  EXPECT_TRUE(is_complete(1));   // l, by y
  EXPECT_FALSE(is_complete(2));  // k, by x
  EXPECT_TRUE(is_complete(3));   // k, by y
}

TEST(Ulc, DamagedTracesAreSurvived) {
  for (uint32_t seed = 0; seed < 100; ++seed) {
    const Trace trace = model::random_trace(seed, 500);
    const UlcProfile profile = ulc_profile(SectionFacts(trace));
    EXPECT_LE(profile.conflicts_ns, profile.recorded_ns);
    EXPECT_LE(profile.no_locks_ns, profile.conflicts_ns);
    EXPECT_GE(profile.cost_ns, 0);
  }
}

}  // namespace
}  // namespace contrafact::analysis
