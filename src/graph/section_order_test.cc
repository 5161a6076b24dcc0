#include "graph/section_order.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>
#include <set>

#include "model/text_trace.h"

namespace contrafact::graph {
namespace {

using model::Trace;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::UnorderedElementsAre;

Trace parse(std::string_view text) {
  base::Result<Trace> trace = model::parse_text(text);
  EXPECT_TRUE(trace.ok()) << (trace.ok() ? "" : trace.error().message);
  return trace.ok() ? *std::move(trace) : Trace();
}

// One section after the other under one lock, each in a thread of its own. What each touches is given as ranges, "-"
// for a section that was not observed.
std::string row_of_sections(const std::vector<std::string>& touched) {
  std::string rows = "lock l mutex\n", events;
  for (size_t i = 0; i < touched.size(); ++i) {
    const std::string n = std::to_string(i);
    rows += "thread w" + n + "\n";
    if (touched[i] != "-") rows += "access_set s" + n + " complete " + touched[i] + "\n";
    const size_t ns = 10 * i;
    events += std::to_string(ns) + " w" + n + " lock_acquire l\n";
    if (touched[i] != "-") events += std::to_string(ns + 4) + " w" + n + " accesses s" + n + "\n";
    events += std::to_string(ns + 5) + " w" + n + " lock_release l\n";
  }
  return rows + events;
}

struct Orders {
  explicit Orders(const std::string& text)
      : trace(parse(text)),
        sections(model::critical_sections(trace)),
        sets(model::section_sets(trace, sections)),
        recorded(recorded_order(trace, sections)),
        needed(needed_order(trace, sections, sets, recorded)) {}

  std::vector<std::string> pairs(const SectionOrder& order) const {
    std::vector<std::string> found;
    for (const SectionPair& pair : adjacent_pairs(order)) {
      found.push_back(std::string() + static_cast<char>('A' + pair.first) + "<" + static_cast<char>('A' + pair.second));
    }
    return found;
  }
  PairKind kind(uint32_t x, uint32_t y) {
    SectionConflicts conflicts(sets);
    EXPECT_EQ(conflicts.between(sets.of_section[x], sets.of_section[y]),
              conflicts.between(sets.of_section[y], sets.of_section[x]));
    return conflicts.between(sets.of_section[x], sets.of_section[y]);
  }

  Trace trace;
  std::vector<model::CriticalSection> sections;
  model::SectionSets sets;
  SectionOrder recorded, needed;
};

// The example of the paper's section 3.2 (equations 2 to 4).
TEST(SectionOrder, TheOrderThatWasThereThroughAnUnnecessaryPairIsRepaired) {
  const Orders orders(row_of_sections({"0+8:rwc", "64+8:r", "0+8:rwc 8+8:wc", "8+8:rwc 16+8:wc", "16+8:r"}));
  EXPECT_THAT(orders.pairs(orders.recorded), ElementsAre("A<B", "B<C", "C<D", "D<E"));
  EXPECT_THAT(orders.pairs(orders.needed), UnorderedElementsAre("A<C", "C<D", "D<E"));
}

TEST(SectionOrder, WhatFollowsFromOtherPairsIsNotSaid) {
  const Orders orders(row_of_sections({"0+8:wc 8+8:wc", "0+8:wc", "0+8:wc 8+8:wc"}));
  EXPECT_THAT(orders.pairs(orders.needed), UnorderedElementsAre("A<B", "B<C"));
}

TEST(SectionOrder, AWriterComesAfterAllReadersAndTheyAfterTheWriterBefore) {
  const Orders orders(row_of_sections({"0+8:wc", "0+8:r", "0+4:r", "2+1:wc", "0+1:r"}));
  EXPECT_THAT(orders.pairs(orders.needed), UnorderedElementsAre("A<B", "A<C", "B<D", "C<D", "A<E"));
}

TEST(SectionOrder, UpdatesThatCommuteAreNotOrderedAmongEachOther) {
  const Orders orders(row_of_sections({"0+8:rwcm", "0+8:rwcm", "0+8:r", "0+8:rwcm"}));
  EXPECT_THAT(orders.pairs(orders.needed), UnorderedElementsAre("A<C", "B<C", "C<D"));
}

TEST(SectionOrder, BitsThatAreSetCommuteWithTheirLikeAlone) {
  const Orders orders(row_of_sections({"0+8:rwcmo", "0+8:rwcmo", "0+8:rwcmn", "0+8:rwcm", "0+8:rwcmo"}));
  EXPECT_THAT(orders.pairs(orders.needed), UnorderedElementsAre("A<C", "B<C", "C<D", "D<E"));
}

TEST(SectionOrder, SettingBitsThatAreSetIsSilent) {
  const Orders orders(row_of_sections({"0+8:rwmo", "0+8:r", "0+8:rwmn"}));
  EXPECT_THAT(orders.pairs(orders.needed), IsEmpty());
}

TEST(SectionOrder, WhatIsNotKnownKeepsItsPlaceAmongAllThatTouchAnything) {
  const Orders orders(row_of_sections({"0+8:r", "-", "8+8:r", ""}));
  EXPECT_THAT(orders.pairs(orders.needed), UnorderedElementsAre("A<B", "B<C"));
}

TEST(SectionOrder, LocksThatAreNotRelaxedKeepTheirOrder) {
  const Orders orders(row_of_sections({"0+8:r", "8+8:r"}));
  EXPECT_THAT(orders.pairs(orders.needed), IsEmpty());
  EXPECT_THAT(orders.pairs(needed_order(orders.trace, orders.sections, orders.sets, orders.recorded, {false})),
              ElementsAre("A<B"));
}

TEST(SectionConflicts, KindsOfPairs) {
  Orders orders(row_of_sections({"", "0+8:r", "0+8:r", "0+8:wc", "8+8:wc", "0+4:w", "4+4:rwcm", "4+8:rwcm", "-"}));
  EXPECT_EQ(orders.kind(0, 3), PairKind::null_lock);
  EXPECT_EQ(orders.kind(0, 8), PairKind::null_lock);
  EXPECT_EQ(orders.kind(1, 2), PairKind::read_read);
  EXPECT_EQ(orders.kind(1, 4), PairKind::disjoint_write);  // C1.rd and C2.wr do not meet
  EXPECT_EQ(orders.kind(3, 4), PairKind::disjoint_write);
  EXPECT_EQ(orders.kind(1, 3), PairKind::conflict);  // C1.rd meets C2.wr
  EXPECT_EQ(orders.kind(3, 1), PairKind::conflict);  // C1.wr meets C2.rd
  EXPECT_EQ(orders.kind(3, 3), PairKind::conflict);  // C1.wr meets C2.wr
  EXPECT_EQ(orders.kind(1, 5), PairKind::benign);    // a silent write
  EXPECT_EQ(orders.kind(3, 5), PairKind::conflict);
  EXPECT_EQ(orders.kind(6, 7), PairKind::benign);  // updates that commute
  EXPECT_EQ(orders.kind(1, 6), PairKind::conflict);
  EXPECT_EQ(orders.kind(4, 7), PairKind::conflict);
  EXPECT_EQ(orders.kind(1, 8), PairKind::unknown);
}

// Against every pair, for random sets: each conflict is ordered, directly or by way of others, and nothing else is.
TEST(SectionOrder, AnySectionsAreOrderedExactlyAsTheirConflictsDemand) {
  std::mt19937 random(5);
  const char* flags[] = {"r", "r", "w", "wc", "rwc", "rwcm", "rwcmo", "rwmo"};
  for (int round = 0; round < 300; ++round) {
    std::vector<std::string> touched;
    for (int i = 0; i < 12; ++i) {
      std::string ranges;
      for (uint32_t n = random() % 3; n > 0; --n) {
        ranges +=
            " " + std::to_string(random() % 12) + "+" + std::to_string(1 + random() % 4) + ":" + flags[random() % 8];
      }
      touched.push_back(random() % 20 == 0 ? "-" : ranges);
    }
    Orders orders(row_of_sections(touched));
    const size_t count = orders.sections.size();
    std::vector<std::set<uint32_t>> wanted(count), got(count);
    for (uint32_t s = 0; s < count; ++s) {
      for (uint32_t before = 0; before < s; ++before) {
        if (is_unnecessary(orders.kind(before, s))) continue;
        wanted[s].insert(before);
        wanted[s].insert(wanted[before].begin(), wanted[before].end());
      }
      for (const uint32_t before : orders.needed.of(s)) {
        ASSERT_FALSE(got[s].contains(before)) << "said twice";
        got[s].insert(got[before].begin(), got[before].end());
      }
      for (const uint32_t before : orders.needed.of(s)) {
        ASSERT_FALSE(got[s].contains(before)) << "follows from others";
      }
      got[s].insert(orders.needed.of(s).begin(), orders.needed.of(s).end());
      ASSERT_EQ(got[s], wanted[s]) << "round " << round << " section " << s;
    }
  }
}

}  // namespace
}  // namespace contrafact::graph
