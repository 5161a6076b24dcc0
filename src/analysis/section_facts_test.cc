#include "analysis/section_facts.h"

#include <fmt/core.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "analysis/text_trace_for_test.h"
#include "graph/section_conflicts.h"

namespace contrafact::analysis {
namespace {

using format::SetGap;
using model::Trace;
using ::testing::ElementsAre;

constexpr std::string_view kLockRows =
    "method m .work w.cc:1\ncontext a - m:10\ncontext b - m:20\nlock l mutex \"\"\nlock k mutex \"\"\n"
    "access_set none complete\naccess_set reads complete 0+8:r\naccess_set adds complete 0+8:rwc\n"
    "access_set own complete 64+8:rw\naccess_set later outside_window\nthread x\nthread y\n";

Trace recorded(std::string_view events) {
  return parsed(std::string(kLockRows) + std::string(events));
}

// Where the first range of each section's set begins, and its flags; -1: it has none.
std::vector<int64_t> begins(const SectionFacts& facts) {
  std::vector<int64_t> begins;
  for (const uint32_t set : facts.sets.of_section) {
    const auto ranges = facts.sets.ranges_of(set);
    begins.push_back(ranges.empty() ? -1 : static_cast<int64_t>(ranges.front().begin));
  }
  return begins;
}

// Times are the plain run's, sets the other's: x reads for 8 ns of 10, which took 80 of 100 where it was observed.
TEST(SectionFacts, TakeTheirSetsFromARecordingThatTookLonger) {
  const Trace plain =
      recorded("0 x lock_acquire l a\n10 x lock_release l\n12 y lock_acquire l a\n14 y lock_release l\n");
  const Trace observed = recorded(
      "0 x lock_acquire l a\n20 x accesses none\n100 x accesses reads\n100 x lock_release l\n"
      "110 y lock_acquire l a\n150 y accesses own\n150 y lock_release l\n");
  const SectionFacts facts(plain, SectionFacts(observed));
  EXPECT_THAT(begins(facts), ElementsAre(0, 64));
  EXPECT_EQ(facts.trace, &plain);
  const auto parts = facts.sets.parts_of(facts.sets.head[0]);
  ASSERT_EQ(parts.size(), 2u);
  EXPECT_EQ(parts[0].length_ns, 2);
  EXPECT_EQ(parts[1].length_ns, 8);
  EXPECT_EQ(facts.counterparts.found, 2u);
  EXPECT_EQ(facts.counterparts.missing, 0u);
  EXPECT_EQ(facts.counterparts.dilation, 15.0);  // between 10 and 20
}

// x computes for 10 ns and then sleeps for 50, plain as observed; its code takes ten times as long where it is
// observed.
TEST(SectionFacts, SleepAsLongAsTheyDidWhereTheirCodeTookLonger) {
  const Trace plain =
      recorded("0 x lock_acquire l a\n10 x block_begin sleep a\n60 x block_end sleep\n62 x lock_release l\n");
  const Trace observed = recorded(
      "0 x lock_acquire l a\n100 x accesses reads\n110 x block_begin sleep a\n160 x block_end sleep\n170 x accesses "
      "own\n"
      "170 x lock_release l\n");
  const SectionFacts facts(plain, SectionFacts(observed));
  const auto parts = facts.sets.parts_of(facts.sets.head[0]);
  ASSERT_EQ(parts.size(), 2u);
  EXPECT_EQ(parts[0].length_ns, 10);
  EXPECT_EQ(parts[1].length_ns, 52);
}

// Of two locks without names, the one of the same code corresponds, whatever their order. If there are more sections
// than were observed, each observed one stands for several.
TEST(SectionFacts, FindTheirCounterpartsByLockAndCode) {
  const Trace plain = recorded(
      "0 x lock_acquire k b\n1 x lock_release k\n2 x lock_acquire l a\n3 x lock_release l\n4 x lock_acquire l a\n"
      "5 x lock_release l\n6 x lock_acquire l a\n7 x lock_release l\n8 x lock_acquire l a\n9 x lock_release l\n");
  const Trace observed = recorded(
      "0 x lock_acquire k a\n2 x accesses reads\n2 x lock_release k\n3 x lock_acquire k a\n5 x accesses own\n"
      "5 x lock_release k\n6 x lock_acquire l b\n8 x accesses none\n8 x lock_release l\n");
  EXPECT_THAT(begins(SectionFacts(plain, SectionFacts(observed))), ElementsAre(0, 0, 64, 64, -1));
}

TEST(SectionFacts, AreUnknownWhereTheirCodeWasNotObserved) {
  const Trace plain =
      recorded("0 x lock_acquire l a\n10 x lock_release l\n12 x lock_acquire l b\n14 x lock_release l\n");
  const Trace observed = recorded("0 x lock_acquire l a\n9 x accesses reads\n9 x lock_release l\n");
  const SectionFacts facts(plain, SectionFacts(observed));
  EXPECT_EQ(facts.counterparts.missing, 1u);
  EXPECT_EQ(facts.sets.gap_of(facts.sets.of_section[0]), SetGap::complete);
  EXPECT_EQ(facts.sets.gap_of(facts.sets.of_section[1]), SetGap::not_observed);
  graph::SectionConflicts conflicts(facts.sets);
  EXPECT_EQ(conflicts.between(facts.sets.of_section[0], facts.sets.of_section[1]), graph::PairKind::unknown);
}

// A thread's own memory stays its own: each thread of one run corresponds to one of the other.
TEST(SectionFacts, KeepThreadsApart) {
  const Trace plain = recorded("0 y lock_acquire l a\n1 y lock_release l\n2 x lock_acquire l a\n3 x lock_release l\n");
  const Trace observed = recorded(
      "0 x lock_acquire l a\n9 x accesses own\n9 x lock_release l\n10 y lock_acquire l a\n19 y accesses reads\n"
      "19 y lock_release l\n");
  EXPECT_THAT(begins(SectionFacts(plain, SectionFacts(observed))), ElementsAre(0, 64));
}

// Also through another recording's eyes.
TEST(SectionFacts, CountWhatWasObservedInPairs) {
  const Trace trace = recorded(
      "0 x lock_acquire l a\n1 x accesses own\n1 x lock_release l\n2 y lock_acquire l b\n3 y accesses own\n"
      "3 y lock_release l\n4 x lock_acquire l a\n5 x accesses own\n5 x lock_release l\n6 y lock_acquire l b\n"
      "7 y lock_release l\n8 x lock_acquire l a\n9 x accesses own\n9 x lock_release l\n10 x lock_acquire k a\n"
      "11 x accesses own\n11 x lock_release k\n");
  const SectionFacts facts(trace);
  const Trace plain = recorded("0 x lock_acquire l a\n1 x lock_release l\n2 x lock_acquire l b\n3 x lock_release l\n");
  const SectionFacts borrowed(plain, facts);
  EXPECT_EQ(borrowed.observed[borrowed.site_of[0]], 4u);
  EXPECT_EQ(borrowed.observed_pairs[borrowed.site_of[0]], 1u);
  EXPECT_EQ(borrowed.observed[borrowed.site_of[1]], 1u);
  EXPECT_EQ(borrowed.observed_pairs[borrowed.site_of[1]], 1u);
}

// Sections of x one after the other, a longer one after each fifteen others.
std::string sections_of_x(int count, int64_t short_ns, int64_t long_ns, bool observed) {
  std::string text;
  int64_t now_ns = 0;
  for (int i = 0; i < count; ++i) {
    const bool longer = i % 16 == 9;
    text += fmt::format("{} x lock_acquire l a\n", now_ns);
    now_ns += longer ? long_ns : short_ns;
    if (observed) text += fmt::format("{} x accesses {}\n", now_ns, longer ? "own" : "reads");
    text += fmt::format("{} x lock_release l\n", now_ns);
    now_ns += 10;
  }
  return text;
}

TEST(SectionFacts, TakeTheirSetsInTheSharesThatWereObserved) {
  const Trace observed = recorded(sections_of_x(32, 200, 300, true));
  const auto found_by = [&](int64_t long_ns) {
    const Trace plain = recorded(sections_of_x(320, 20, long_ns, false));
    return begins(SectionFacts(plain, SectionFacts(observed)));
  };
  const std::vector<int64_t> by_length = found_by(30);
  EXPECT_EQ(std::ranges::count(by_length, 64), 20);
  for (size_t i = 9; i < by_length.size(); i += 16) EXPECT_EQ(by_length[i], 64) << i;
  // Where all sections take the same time, it is not known which of them are long, but how many are.
  EXPECT_EQ(std::ranges::count(found_by(20), 64), 20);
}

// A section outside of a window touches the data that the nearest section of its kind inside touches.
TEST(SectionFacts, TakeTheirSetsFromTheNearestWindow) {
  const Trace trace = recorded(
      "0 x lock_acquire l a\n10 x accesses own\n10 x lock_release l\n20 x lock_acquire l a\n22 x accesses later\n"
      "22 x lock_release l\n80 x lock_acquire l a\n81 x accesses later\n81 x lock_release l\n90 x lock_acquire l a\n"
      "99 x accesses reads\n99 x lock_release l\n100 y lock_acquire l b\n101 y accesses later\n101 y lock_release l\n");
  const SectionFacts facts(trace);
  EXPECT_THAT(begins(facts), ElementsAre(64, 64, 0, 0, -1));
  EXPECT_EQ(facts.counterparts.found, 2u);
  EXPECT_EQ(facts.counterparts.missing, 1u);
  EXPECT_EQ(facts.counterparts.dilation, std::nullopt);  // they are too few to tell
  EXPECT_EQ(facts.sets.gap_of(facts.sets.of_section[4]), SetGap::outside_window);
}

// Ten sections of 8 ns in windows and ten of 2 ns outside of them: the first ten would take a quarter if not observed.
// Elsewhere nothing is known of the time that they would take.
TEST(SectionFacts, AreScaledToWhatTheirLikeTakesOutsideOfWindows) {
  std::string events;
  for (int i = 0; i < 10; ++i) {
    const int begin = 100 * i;
    events += std::to_string(begin) + " x lock_acquire l a\n" + std::to_string(begin + 8) + " x accesses reads\n" +
              std::to_string(begin + 8) + " x lock_release l\n" + std::to_string(begin + 50) + " x lock_acquire l a\n" +
              std::to_string(begin + 52) + " x lock_release l\n";
  }
  events += "2000 x lock_acquire k b\n2010 x accesses own\n2010 x lock_release k\n";
  const Trace trace = recorded("fact sets.windows_ns 10/40\n" + events);
  const SectionFacts facts(trace);
  ASSERT_EQ(facts.cpu_scales.size(), 21u);
  for (size_t s = 0; s < 20; ++s) EXPECT_EQ(facts.cpu_scales[s], s % 2 == 0 ? 0.25F : 1.0F) << s;
  EXPECT_EQ(facts.cpu_scales[20], 1.0F);
  EXPECT_EQ(facts.counterparts.found, 10u);
  EXPECT_EQ(facts.counterparts.dilation, 4.0);
  EXPECT_EQ(facts.observed[facts.site_of[0]], 10u);
  EXPECT_EQ(facts.observed_pairs[facts.site_of[0]], 0u);  // always one between two of them
  EXPECT_TRUE(SectionFacts(recorded(events)).cpu_scales.empty());
}

}  // namespace
}  // namespace contrafact::analysis
