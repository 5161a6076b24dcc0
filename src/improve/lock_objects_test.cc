#include "improve/lock_objects.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>

#include "analysis/text_trace_for_test.h"
#include "improve/divided_data.h"
#include "improve/kinds/kinds.h"
#include "improve/lock_candidates.h"

namespace contrafact::improve {
namespace {

using analysis::parsed;
using analysis::SectionFacts;
using model::Trace;
using testing::ElementsAre;
using testing::HasSubstr;
using whatif::Improvement;

constexpr uint32_t kAll = Improvement::kAllParts;

// "ADDRESS+BYTES:FLAGS", ascending: what a section touches.
using Section = std::vector<std::string>;

const Section kUnknown{"unknown"};

std::string object(int number) {
  return fmt::format("{}+8:rwc", 64 * (number + 1));
}
Section two(int x, int y) {
  return {object(std::min(x, y)), object(std::max(x, y))};
}

// Sections of one lock, of 1 us, that two threads hold in turns; a thread waits for the first. In windows every third
// one is observed.
struct ObjectScene {
  explicit ObjectScene(const std::vector<Section>& sections, bool in_windows = false)
      : trace(parsed(text(sections, in_windows))), facts(trace), found(lock_candidates(facts)) {}

  static std::string text(const std::vector<Section>& sections, bool in_windows) {
    std::string sets = "access_set none complete\n", events;
    if (in_windows) sets += "access_set outside outside_window\n";
    for (size_t i = 0; i < sections.size(); ++i) {
      const char* thread = i % 2 == 0 ? "x" : "y";
      const int64_t now_ns = 1000 + 2000 * static_cast<int64_t>(i);
      const bool is_known = sections[i] != kUnknown;
      sets += fmt::format("access_set s{} {}\n", i,
                          is_known ? fmt::format("complete {}", fmt::join(sections[i], " ")) : "overflow");
      const bool is_outside = in_windows && i % 3 != 0;
      events += fmt::format("{0} {3} lock_acquire l a\n{1} {3} accesses {2}\n{1} {3} lock_release l\n", now_ns,
                            now_ns + 1000, is_outside ? "outside" : fmt::format("s{}", i), thread);
    }
    return "method m .work w.cc:1\ncontext a - m:10\nlock l mutex\n" + sets +
           "thread x\nthread y\n0 x thread_begin\n0 y thread_begin\n1 x lock_request l a\n2 x lock_acquired l\n"
           "3 x accesses none\n3 x lock_release l\n" +
           events;
  }

  const Candidate* split() const {
    for (const Candidate& candidate : found.candidates) {
      if (candidate.improvement.optimisation == kinds::split_lock) return &candidate;
    }
    return nullptr;
  }
  const Candidate* redesign() const {
    for (const Ineligible& refused : found.ineligible) {
      if (refused.redesign) return &*refused.redesign;
    }
    return nullptr;
  }
  std::string why_not() const {
    for (const Ineligible& refused : found.ineligible) {
      if (refused.optimisation == kinds::split_lock) return refused.reason;
    }
    return "";
  }

  Trace trace;
  SectionFacts facts;
  Candidates found;
};

// Between all pairs of `objects` objects.
std::vector<Section> transfers(int objects) {
  std::vector<Section> sections;
  for (int x = 0; x < objects; ++x)
    for (int y = x + 1; y < objects; ++y) sections.insert(sections.end(), 2, two(x, y));
  return sections;
}

TEST(LockObjects, WhoTouchesTwoTakesTwoLocks) {
  std::vector<Section> sections = transfers(4);
  sections.push_back({object(2)});
  const ObjectScene scene(sections);
  const Candidate* split = scene.split();
  ASSERT_NE(split, nullptr);
  EXPECT_EQ(split->parts, 4u);
  EXPECT_EQ(split->taking_two, 12u);
  EXPECT_EQ(split->taking_all, 0u);
  const Improvement& made = split->improvement;
  EXPECT_THAT(made.part, ElementsAre(0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2));
  EXPECT_THAT(made.also_part, ElementsAre(1, 1, 2, 2, 3, 3, 2, 2, 3, 3, 3, 3, 2));
}

// Groups that no section ties together are the simpler split. But where most sections are of one group,
// little would be gained by it.
TEST(LockObjects, GroupsComeFirstWhereTheyDivideTheSections) {
  std::vector<Section> sections = transfers(4);
  sections.insert(sections.end(), 12, {object(8)});
  ASSERT_NE(ObjectScene(sections).split(), nullptr);
  EXPECT_EQ(ObjectScene(sections).split()->parts, 2u);
  for (int i = 0; i < 8; ++i)
    for (const Section& section : transfers(4)) sections.push_back(section);
  ASSERT_NE(ObjectScene(sections).split(), nullptr);
  EXPECT_EQ(ObjectScene(sections).split()->parts, 5u);
}

// A counter that all sections change, besides objects that would have locks of their own.
TEST(LockObjects, WhatTiesAllIsNamedWithItsRedesign) {
  std::vector<Section> sections = transfers(4);
  for (Section& section : sections) section.insert(section.begin(), "8+8:rwc");
  const ObjectScene scene(sections);
  EXPECT_EQ(scene.split(), nullptr);
  const Candidate* redesign = scene.redesign();
  ASSERT_NE(redesign, nullptr);
  EXPECT_EQ(redesign->parts, 4u);
  EXPECT_THAT(redesign->improvement.part, ElementsAre(0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 2, 2));
  EXPECT_THAT(redesign->improvement.also_part, ElementsAre(1, 1, 2, 2, 3, 3, 2, 2, 3, 3, 3, 3));
  EXPECT_THAT(redesign_words(*redesign), HasSubstr("with this data divided as well, into 4 parts (a redesign)"));
}

// A buffer, say: the redesign is one for each thread.
TEST(LockObjects, WhereAllChangeTheSameTheRedesignIsOfThreads) {
  const ObjectScene scene(std::vector<Section>(6, {object(0), object(1)}));
  EXPECT_EQ(scene.split(), nullptr);
  const Candidate* redesign = scene.redesign();
  ASSERT_NE(redesign, nullptr);
  EXPECT_EQ(redesign->parts, 2u);
  EXPECT_THAT(redesign->improvement.part, ElementsAre(0, 0, 1, 0, 1, 0, 1));
  EXPECT_THAT(redesign_words(*redesign), HasSubstr("with data of its own for each thread (a redesign)"));
}

TEST(LockObjects, ThreeObjectsAreTooFew) {
  EXPECT_EQ(ObjectScene(transfers(3)).split(), nullptr);
}

TEST(LockObjects, WhatAlwaysComesTogetherIsOneObject) {
  std::vector<Section> sections;
  for (int i = 0; i < 40; ++i) {
    const int x = i % 4, y = (i + 1 + i / 4 % 3) % 4;
    // A second word of each, and a slot of the ring of the first that is written now and then.
    sections.push_back({fmt::format("{}+8:rwc", 64 * (x + 1)), fmt::format("{}+8:rwc", 64 * (x + 1) + 16),
                        fmt::format("{}+8:rwc", 64 * (y + 1)), fmt::format("{}+8:rwc", 64 * (y + 1) + 16),
                        fmt::format("{}+8:rwc", 1024 * (x + 1) + 8 * (i / 8))});
    if (x > y) std::swap_ranges(sections.back().begin(), sections.back().begin() + 2, sections.back().begin() + 2);
  }
  const ObjectScene scene(sections);
  ASSERT_NE(scene.split(), nullptr);
  EXPECT_EQ(scene.split()->parts, 4u);
  EXPECT_EQ(scene.split()->taking_two, 40u);
}

// One of sixteen and more sections touches a second word of an object alone: it takes that object's lock all the same.
TEST(LockObjects, WhatNearlyAlwaysComesTogetherIsOneObject) {
  std::vector<Section> sections;
  for (int i = 0; i < 8; ++i) {
    for (const Section& section : transfers(4)) {
      sections.push_back(section);
      if (section[0] == object(0)) sections.back().insert(sections.back().begin() + 1, "80+8:rwc");
    }
  }
  sections.insert(sections.end(), 3, {object(0)});
  sections.push_back({"80+8:rwc"});
  const ObjectScene scene(sections);
  ASSERT_NE(scene.split(), nullptr);
  EXPECT_EQ(scene.split()->parts, 4u);
  EXPECT_EQ(scene.split()->taking_all, 0u);
  EXPECT_EQ(scene.split()->improvement.part.back(), 0u);
  EXPECT_EQ(scene.split()->improvement.also_part.back(), 0u);
}

// In front of each object's words is one of its own, which one of the two has read; now and then sections change two of
// these alone.
TEST(LockObjects, WhatIsNextToAnObjectAndMostlyTouchedWithItIsPartOfIt) {
  const auto front = [](int number, const char* flags) { return fmt::format("{}+8:{}", 64 * (number + 1) - 8, flags); };
  std::vector<Section> sections;
  for (int i = 0; i < 4; ++i) {
    for (int x = 0; x < 6; ++x) {
      for (int y = x + 1; y < 6; ++y) {
        sections.push_back({front(x, "r"), object(x), object(y)});
        sections.push_back({object(x), front(y, "r"), object(y)});
      }
    }
    for (int x = 0; x < 3; ++x) sections.push_back({front(x, "rwc"), front((x + i) % 3 + 3, "rwc")});
  }
  const ObjectScene scene(sections);
  ASSERT_NE(scene.split(), nullptr);
  EXPECT_EQ(scene.split()->parts, 6u);
  EXPECT_EQ(scene.split()->taking_two, sections.size());
}

TEST(LockObjects, SectionsThatTouchAllTogetherAreNotSplit) {
  const ObjectScene scene(std::vector<Section>(20, {object(0), object(1), object(2), object(3), object(4)}));
  EXPECT_EQ(scene.split(), nullptr);
  EXPECT_EQ(scene.why_not(), "its sections tie together all that they change");
}

TEST(LockObjects, WhatAllTouchTiesThemTogetherAndIsNamed) {
  std::vector<Section> sections = transfers(4);
  for (Section& section : sections) section.push_back("4096+8:rwc");
  const ObjectScene scene(sections);
  EXPECT_EQ(scene.split(), nullptr);
  EXPECT_THAT(scene.why_not(), HasSubstr("nearly all of its sections touch the same 8 bytes: without these there would "
                                         "be 4 objects"));
}

TEST(LockObjects, ThreeAtATimeAreTooMany) {
  std::vector<Section> sections;
  for (int i = 0; i < 60; ++i) {
    std::vector<int> numbers{i % 6, (i + 1 + i / 6 % 2) % 6, (i + 3 + i / 12 % 2) % 6};
    std::ranges::sort(numbers);
    sections.push_back({object(numbers[0]), object(numbers[1]), object(numbers[2])});
  }
  EXPECT_EQ(ObjectScene(sections).split(), nullptr);
}

TEST(LockObjects, TheFewThatTouchMoreTakeAllLocks) {
  std::vector<Section> sections;
  for (int i = 0; i < 5; ++i)
    for (const Section& section : transfers(4)) sections.push_back(section);
  sections.push_back({object(0), object(1), object(2), object(3)});
  const ObjectScene scene(sections);
  ASSERT_NE(scene.split(), nullptr);
  EXPECT_EQ(scene.split()->parts, 4u);
  EXPECT_EQ(scene.split()->taking_all, 1u);
  EXPECT_EQ(scene.split()->improvement.also_part.back(), kAll);
  sections.insert(sections.end(), 3, sections.back());  // 4 of 64
  EXPECT_EQ(ObjectScene(sections).split(), nullptr);
}

// A directory that all look at, and one changes: that one needs all locks, for each of the others has only its own.
TEST(LockObjects, WhoChangesWhatAllLookAtTakesAllLocks) {
  std::vector<Section> sections;
  for (int i = 0; i < 4; ++i)
    for (Section& section : transfers(4)) {
      section.push_back("4096+8:r");
      sections.push_back(section);
    }
  sections.push_back({object(1), "4096+8:rwc"});
  const ObjectScene scene(sections);
  ASSERT_NE(scene.split(), nullptr);
  EXPECT_EQ(scene.split()->parts, 4u);
  EXPECT_EQ(scene.split()->taking_all, 1u);
  EXPECT_EQ(scene.split()->improvement.also_part.back(), kAll);
}

// Elements go from list to list, each from where it is, the last one late and once: a section touches two lists and an
// element, or reads all in both as well.
struct Moves {
  bool from_elsewhere = false;
  bool read_all = false;
};
std::vector<Section> moves(const Moves& how) {
  std::vector<Section> sections;
  std::vector<int> where(9);
  std::mt19937 random(1);
  for (int i = 0; i < 192; ++i) {
    const int moved = i == 186 ? 8 : static_cast<int>(random() % 8);
    const int from = where[moved], to = (from + 1 + static_cast<int>(random() % 4)) % 5;
    Section section = two(from, to);
    for (int element = 0; element < 9; ++element) {
      const bool is_there = where[element] == from || where[element] == to;
      if (element != moved && !(how.read_all && is_there)) continue;
      section.push_back(fmt::format("{}+8:{}", 4096 + 64 * element, element == moved ? "rwc" : "r"));
    }
    where[moved] = how.from_elsewhere ? (to + 2) % 5 : to;
    sections.push_back(section);
  }
  return sections;
}

TEST(LockObjects, WhatMovesBetweenObjectsIsOfTheOneThatItIsIn) {
  for (const bool read_all : {false, true}) {
    const ObjectScene scene(moves({.read_all = read_all}));
    ASSERT_NE(scene.split(), nullptr);
    EXPECT_EQ(scene.split()->parts, 5u);
    EXPECT_EQ(scene.split()->taking_two, 192u);
    EXPECT_EQ(scene.split()->taking_all, 0u);
    EXPECT_TRUE(scene.split()->moves);
  }
  EXPECT_EQ(ObjectScene(moves({.from_elsewhere = true})).split(), nullptr);  // an object by itself, and so the third
}

// One section that is not known was what kept a lock as it is.
TEST(LockObjects, FewSectionsThatAreNotKnownTakeAllLocks) {
  std::vector<Section> sections;
  for (int i = 0; i < 80; ++i) sections.push_back({object(i % 8 / 2)});
  sections[41] = kUnknown;
  const ObjectScene scene(sections);
  ASSERT_NE(scene.split(), nullptr);
  EXPECT_EQ(scene.split()->parts, 4u);
  EXPECT_EQ(scene.split()->taking_all, 1u);
  EXPECT_EQ(scene.split()->unknown, 1u);
  for (int i = 0; i < 8; ++i) sections[10 * i] = kUnknown;
  const ObjectScene many(sections);
  EXPECT_EQ(many.split(), nullptr);
}

TEST(LockObjects, StateOfTheKernelIsNotCountedInBytes) {
  std::vector<Section> sections;
  for (int i = 0; i < 80; ++i) sections.push_back({object(i % 8 / 2), "9223372036854775808+2147483648:rwc"});
  const ObjectScene scene(sections);
  ASSERT_EQ(scene.split(), nullptr);
  ASSERT_FALSE(scene.found.ineligible.empty());
  EXPECT_THAT(
      scene.found.ineligible.back().reason,
      HasSubstr("touch the same state of the kernel, as a file's content or position: without these there would be 4"));
}

// Where sections between two observed ones were not observed, nobody knows whether they moved something.
TEST(LockObjects, WhetherSomethingMovesIsSeenWhereNothingWasMissed) {
  const ObjectScene scene(moves({}), true);
  const std::vector<analysis::ObservedSection>& order = scene.facts.observed_order[0];
  EXPECT_EQ(std::ranges::count(order, analysis::kNotObserved, &analysis::ObservedSection::set), 64);
  EXPECT_EQ(scene.split(), nullptr);
  // Nor is it taken for granted: nothing was seen to move.
  std::vector<Section> sections;
  for (int i = 0; i < 3; ++i) {
    for (const Section& section : transfers(6)) sections.push_back(section);
    sections.push_back({object(0)});
  }
  const ObjectScene still(sections, true);
  ASSERT_NE(still.split(), nullptr);
  EXPECT_EQ(still.split()->parts, 6u);
}

}  // namespace
}  // namespace contrafact::improve
