#include "improve/lock_candidates.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <span>
#include <sstream>

#include "improve/kinds/kinds.h"
#include "improve/lock_notes.h"
#include "improve/lock_scene_for_test.h"
#include "improve/unseen_writes.h"
#include "model/random_trace_for_test.h"

namespace contrafact::improve {
namespace {

using analysis::parsed;
using analysis::SectionFacts;

using model::Trace;
using testing::ElementsAre;

TEST(LockCandidates, SectionsThatConflictWithEachOtherOnTwoWordsGetNothing) {
  const LockScene scene({"x b w0 w64", "y b w64", "x b w64", "y b w0"});
  EXPECT_EQ(scene.get(kinds::drop_lock), nullptr);
  EXPECT_EQ(scene.get(kinds::reader_writer_lock), nullptr);
  EXPECT_EQ(scene.get(kinds::split_lock), nullptr);
  EXPECT_EQ(scene.get(kinds::make_atomic), nullptr);
  EXPECT_EQ(scene.get(kinds::shorten_section), nullptr);
}

TEST(LockCandidates, WhatNoOtherThreadTouchesNeedsNoLock) {
  const LockScene scene({"x b w0", "y b w8", "x b w0", "y b w8"});
  const Candidate* drop = scene.get(kinds::drop_lock);
  ASSERT_NE(drop, nullptr);
  EXPECT_EQ(drop->improvement.sections.size(), 4u);
  EXPECT_EQ(drop->of_sections, 4u);
  EXPECT_EQ(drop->unknown, 0u);
}

// x runs site a, and y site b: nothing says that only x will go on running a. Both may have locks of their own.
TEST(LockCandidates, WhatOnlyOneThreadRanGetsALockOfItsOwnNotNone) {
  const LockScene scene({"x a w0", "y b w64", "y b w64", "y b w64"});
  EXPECT_EQ(scene.get(kinds::drop_lock), nullptr);
  const Candidate* split = scene.get(kinds::split_lock);
  ASSERT_NE(split, nullptr);
  EXPECT_EQ(split->parts, 2u);
  EXPECT_TRUE(std::ranges::any_of(scene.found.ineligible, [](const Ineligible& refused) {
    return refused.optimisation == kinds::drop_lock && refused.reason == "only one thread ran what writes under it";
  }));
  const LockScene reads({"x a w0", "y b r64", "x a w0", "y b r64"});
  EXPECT_NE(reads.get(kinds::drop_lock), nullptr);
}

TEST(LockCandidates, SitesThatOnlyReadBecomeReaders) {
  const LockScene scene({"x b r0", "y b r0", "x a w0 w64", "y b r0", "y a w64"});
  const Candidate* readers = scene.get(kinds::reader_writer_lock);
  ASSERT_NE(readers, nullptr);
  EXPECT_EQ(readers->improvement.sections.size(), 3u);
  ASSERT_EQ(readers->sites.size(), 1u);
  EXPECT_EQ(scene.facts.sites.sites()[readers->sites[0]].label, "work (w.cc:20)");
}

// 128 is x's own, 192 y's: locals in memory.
TEST(LockCandidates, ReadersMayWriteWhatNoOtherThreadTouches) {
  const std::vector<std::string> own{"x b r0 w128", "y b r0 w192", "x a w0 w64", "y b r0 w192", "y a w64"};
  const LockScene scene(own);
  const Candidate* readers = scene.get(kinds::reader_writer_lock);
  ASSERT_NE(readers, nullptr);
  EXPECT_EQ(readers->improvement.sections.size(), 3u);
  auto not_own = own;
  not_own.push_back("y b r0 w128");
  EXPECT_EQ(LockScene(not_own).get(kinds::reader_writer_lock), nullptr);
  // What touches nothing shared needs no lock at all.
  EXPECT_EQ(LockScene({"x b w128", "y b w192", "x a w0", "y a w0"}).get(kinds::reader_writer_lock), nullptr);
}

// A look-up in a map: some meet what is written now and then, some do not; each fills a string of its own.
TEST(LockCandidates, LookUpsThatMeetAWriteNowAndThenAreReaders) {
  const LockScene scene(
      {"x b r0 w128", "y b r8 w192", "x a w0", "y b r0 w192", "x b r64 w128", "y a w64", "x b r8 w128"});
  const Candidate* readers = scene.get(kinds::reader_writer_lock);
  ASSERT_NE(readers, nullptr);
  EXPECT_EQ(readers->improvement.sections.size(), 5u);
  EXPECT_EQ(scene.get(kinds::drop_lock), nullptr);
  EXPECT_EQ(scene.get(kinds::split_lock), nullptr);
  const auto says = [&](const Kind* optimisation) {
    return std::ranges::count(scene.found.ineligible, optimisation, &Ineligible::optimisation);
  };
  EXPECT_EQ(says(kinds::drop_lock), 1);
  EXPECT_EQ(says(kinds::split_lock), 1);
}

TEST(LockCandidates, WhatIsTiedTogetherSaysSo) {
  const LockScene scene({"x b w0 w64", "y b w64", "x b w64", "y b w0"});
  EXPECT_TRUE(std::ranges::any_of(scene.found.ineligible, [](const Ineligible& refused) {
    return refused.reason == "its sections tie together all that they change";
  }));
}

TEST(LockCandidates, WhatTiesThingsTogetherIsNamed) {
  const LockScene scene({"x b w0", "y b w0", "x b w64", "y b w64", "x a w0 w64"});
  EXPECT_TRUE(std::ranges::any_of(scene.found.ineligible, [](const Ineligible& refused) {
    return refused.reason == "work (w.cc:10) ties together what would be 2 groups without it";
  }));
}

TEST(LockCandidates, SystemCallsAreNoAtomicOperations) {
  const LockScene scene({"x b file", "y b file"});
  EXPECT_EQ(scene.get(kinds::make_atomic), nullptr);
  EXPECT_EQ(scene.get(kinds::drop_lock), nullptr);
  EXPECT_TRUE(std::ranges::any_of(scene.found.ineligible, [](const Ineligible& refused) {
    return refused.optimisation == kinds::make_atomic && refused.reason == "it orders system calls";
  }));
}

TEST(LockCandidates, PlacesThatNoSectionTiesTogetherAreSplit) {
  const std::vector<std::string> apart{"x b w0", "y b w0", "x b w64", "y b w64"};
  const LockScene scene(apart);
  const Candidate* split = scene.get(kinds::split_lock);
  ASSERT_NE(split, nullptr);
  EXPECT_EQ(split->parts, 2u);
  EXPECT_THAT(split->improvement.part, ElementsAre(0, 0, 1, 1));
  auto tied = apart;
  tied.push_back("x b w0 w64");
  EXPECT_EQ(LockScene(tied).get(kinds::split_lock), nullptr);
}

TEST(LockCandidates, UnknownSectionsForbidASplitAndAnAtomicAndSayWhy) {
  const LockScene scene({"x b w0", "y b w0", "x b w64", "y b w64", "y b -"});
  EXPECT_EQ(scene.get(kinds::split_lock), nullptr);
  ASSERT_FALSE(scene.found.ineligible.empty());
  EXPECT_EQ(scene.found.ineligible[0].reason, "it has sections whose reads and writes are not known");
}

TEST(LockCandidates, OneContestedWordBecomesAnAtomic) {
  const LockScene scene({"x b m0", "y b m0", "x b r0"});
  ASSERT_NE(scene.get(kinds::make_atomic), nullptr);
  EXPECT_EQ(scene.get(kinds::make_atomic)->improvement.sections.size(),
            4u);                                                                // with the first, which touches nothing
  EXPECT_EQ(LockScene({"x b m4", "y b m4"}).get(kinds::make_atomic), nullptr);  // over two words
  EXPECT_FALSE(scene.get(kinds::make_atomic)->exchanges);
  const LockScene replaced({"x b w0", "y b w0"});
  ASSERT_NE(replaced.get(kinds::make_atomic), nullptr);
  EXPECT_TRUE(replaced.get(kinds::make_atomic)->exchanges);
  std::string work = "w0";
  for (int i = 0; i < 200; ++i) work += ",none";
  const LockScene longer({"x b " + work, "y b " + work});
  EXPECT_EQ(longer.get(kinds::make_atomic), nullptr);
  ASSERT_FALSE(longer.found.ineligible.empty());
  EXPECT_EQ(longer.found.ineligible[0].reason, "long sections need the value that they replace");
}

TEST(LockCandidates, SeveralContestedWordsBecomeAtomicsWhereTheyAreOnlyUpdated) {
  const LockScene several({"x b m0 m64", "y b m0", "y b m64 m128", "x b m128", "y b m128"}), one({"x b m0", "y b m0"});
  ASSERT_NE(several.get(kinds::make_atomic), nullptr);
  EXPECT_TRUE(several.get(kinds::make_atomic)->of_words);
  EXPECT_FALSE(one.get(kinds::make_atomic)->of_words);
  EXPECT_EQ(LockScene({"x b m0 m64", "y b m0 m64", "x b r0"}).get(kinds::make_atomic), nullptr);
  EXPECT_EQ(LockScene({"x b m0 m64", "y b m0 w64"}).get(kinds::make_atomic), nullptr);
  EXPECT_EQ(LockScene({"x b m0 m68", "y b m0 m68"}).get(kinds::make_atomic), nullptr);  // over two words
}

TEST(LockCandidates, UpdatesThatCommuteNeedAnAtomicNotNothing) {
  const LockScene scene({"x b m0", "y b m0", "x b m0"});
  EXPECT_EQ(scene.get(kinds::drop_lock), nullptr);
  EXPECT_NE(scene.get(kinds::make_atomic), nullptr);
}

// As a Bloom filter's words: some are set already.
TEST(LockCandidates, BitsThatAreSetNeedAnAtomic) {
  const LockScene scene({"x b o0 o64", "y b o0", "x b o0 o64", "y b o64"});
  EXPECT_EQ(scene.get(kinds::drop_lock), nullptr);
  ASSERT_NE(scene.get(kinds::make_atomic), nullptr);
  EXPECT_TRUE(scene.get(kinds::make_atomic)->of_words);
  EXPECT_EQ(LockScene({"x b o0 o64", "y b r0 o64", "x b o0 o64"}).get(kinds::make_atomic), nullptr);
}

TEST(LockCandidates, HeadsAndTailsThatTouchNothingSharedMoveOut) {
  const LockScene scene({"x b r8 w0 none", "y b w0 w64", "x b w0 w64"});
  const Candidate* shorter = scene.get(kinds::shorten_section);
  ASSERT_NE(shorter, nullptr);
  EXPECT_THAT(shorter->improvement.sections.size(), 1u);
  EXPECT_THAT(shorter->improvement.head_ns, ElementsAre(1000));
  EXPECT_THAT(shorter->improvement.tail_ns, ElementsAre(1000));
}

// Neighbours meet at w0, rarely: the code of the other sections changes, too, and keeps its writes. A section that
// writes nothing at all does something else.
TEST(LockCandidates, SectionsThatTouchOnlyTheirOwnAreShortenedWithTheOthersOfTheirSite) {
  const LockScene scene(
      {"x b none,w0,none", "y b none,w0,none", "x b none,w8,none", "y b none,w192,none", "x b none,none"});
  const Candidate* shorter = scene.get(kinds::shorten_section);
  ASSERT_NE(shorter, nullptr);
  EXPECT_THAT(shorter->improvement.sections, ElementsAre(1, 2, 3, 4));
  EXPECT_THAT(shorter->improvement.head_ns, ElementsAre(1000, 1000, 1000, 1000));
  EXPECT_THAT(shorter->improvement.tail_ns, ElementsAre(1000, 1000, 1000, 1000));
  EXPECT_EQ(LockScene({"x b none,w8", "y b none,w192"}).get(kinds::shorten_section), nullptr);
}

// Many sections whose beginning is a few instructions hide none whose beginning takes long.
TEST(LockCandidates, SectionsMoveOutWhatIsWorthIt) {
  std::vector<std::string> sections(12, "x b none@20,w0");
  for (std::string& section : std::span(sections).subspan(6)) section[0] = 'y';
  sections.push_back("x b none,w0");
  const LockScene scene(sections);
  const Candidate* shorter = scene.get(kinds::shorten_section);
  ASSERT_NE(shorter, nullptr);
  EXPECT_THAT(shorter->improvement.sections, ElementsAre(sections.size()));  // the first one is the scene's
  EXPECT_THAT(shorter->improvement.head_ns, ElementsAre(1000));
}

TEST(LockCandidates, PartsOfASegmentMoveOutByThemselves) {
  const LockScene scene({"x b r8,none,w0,w64,none", "y b w0", "x b none,none"});
  const Candidate* shorter = scene.get(kinds::shorten_section);
  ASSERT_NE(shorter, nullptr);
  EXPECT_THAT(shorter->improvement.sections, ElementsAre(1));
  EXPECT_THAT(shorter->improvement.head_ns, ElementsAre(2000));
  EXPECT_THAT(shorter->improvement.tail_ns, ElementsAre(2000));  // w64 is no other thread's
}

// x and y look up entries of a table and count. The look-up moves out, unless something shows that entries are written:
// one write to an entry beside theirs, or code that was not observed.
TEST(LockCandidates, WhatIsReadMayBeWrittenByWhoWritesElsewhereEachTime) {
  const std::vector<std::string> looks{"x b r8,m0", "y b r64,m0", "x b r64,m0", "y b r8,m0", "x b none,m0"};
  const auto with = [&](const std::vector<std::string>& others) {
    std::vector<std::string> sections = looks;
    sections.insert(sections.end(), others.begin(), others.end());
    return LockScene(sections);
  };
  const Candidate* shorten = with({}).get(kinds::shorten_section);
  EXPECT_NE(shorten, nullptr);
  for (const std::vector<std::string>& others : {std::vector<std::string>{"y a w128"}, {"y c -", "y c -"}}) {
    const LockScene scene = with(others);
    shorten = scene.get(kinds::shorten_section);
    ASSERT_NE(shorten, nullptr);
    EXPECT_THAT(shorten->improvement.sections, ElementsAre(5));  // which looks up nothing
  }
  EXPECT_THAT(with({"y c -"}).get(kinds::shorten_section)->improvement.sections.size(), 5u);  // what runs once ends it
  EXPECT_THAT(with({"y a w128", "y a w128"}).get(kinds::shorten_section)->improvement.sections.size(), 5u);
}

// Nor is the word that they count in made atomic then.
TEST(LockCandidates, WhoReadsWhatMayBeWrittenNeedsMoreThanAnAtomicWord) {
  const std::vector<std::string> looks{"x b r8,m0", "y b r64,m0", "x b r64,m0", "y b r8,m0", "x b none,m0"};
  EXPECT_NE(LockScene(looks).get(kinds::make_atomic), nullptr);
  std::vector<std::string> sections = looks;
  sections.push_back("y a w128");
  const LockScene scene(sections);
  EXPECT_EQ(scene.get(kinds::make_atomic), nullptr);
  EXPECT_TRUE(std::ranges::any_of(scene.found.ineligible, [](const Ineligible& each) {
    return each.optimisation == kinds::make_atomic && each.reason == UnseenWrites::kReason;
  }));
}

// The third section was not cut before the call behind the shared data: it moves out as much as the others.
TEST(LockCandidates, WhereWhatMovesBeginsAndEndsIsSaid) {
  const LockScene scene({"x b none>a,w0<c,none", "y b none>a,w0<c,none", "x b none>a,w0@2000", "y b none>a,w0<c,none"});
  const Candidate* shorten = scene.get(kinds::shorten_section);
  ASSERT_NE(shorten, nullptr);
  EXPECT_THAT(shorten->improvement.head_ns, ElementsAre(1000, 1000, 1000, 1000));
  EXPECT_THAT(shorten->improvement.tail_ns, ElementsAre(1000, 1000, 1000, 1000));
  EXPECT_THAT(lock_notes(scene.trace, *shorten),
              ElementsAre("in front of the lock goes what stands up to the end of the call in work (w.cc:10)",
                          "behind its release goes what begins with the call in work (w.cc:30)"));
}

// A section that was cut there and moves less does something else, and so does one that is far shorter.
TEST(LockCandidates, OnlySectionsThatWereNotCutMoveAsMuchAsTheOthers) {
  const LockScene scene({"x b w0<c,none", "y b w0<c,none", "x b w0<c,w0", "y b w0@800", "x b w0@2000"});
  const Candidate* shorten = scene.get(kinds::shorten_section);
  ASSERT_NE(shorten, nullptr);
  EXPECT_THAT(shorten->improvement.sections, ElementsAre(1, 2, 5));
  EXPECT_THAT(shorten->improvement.tail_ns, ElementsAre(1000, 1000, 1000));
}

// y runs the code in one recording only; its sections get the sets of x's, and with them words that are x's alone.
TEST(LockCandidates, WhatOneThreadAloneTouchesStaysItsOwnInAnothersSections) {
  const Trace plain = parsed(LockScene::text({"x b -,-", "y b -,-", "y a -", "x b -,-", "y b -,-"}, ""));
  const Trace observed = parsed(LockScene::text({"x b w0,w64", "y a w0", "x b w0,w64"}, ""));
  const SectionFacts facts(plain, SectionFacts(observed));
  for (const Candidate& candidate : lock_candidates(facts).candidates) {
    if (candidate.improvement.optimisation != kinds::shorten_section) continue;
    EXPECT_THAT(candidate.improvement.tail_ns, ElementsAre(1000, 1000, 1000, 1000));
    return;
  }
  FAIL() << "nothing is shortened";
}

// x and y run the code, and x's sections alone are observed: that y's touch the same word is not known.
TEST(LockCandidates, WhatOnlyOneThreadWasSeenToDoKeepsItsLock) {
  const Trace plain = parsed(LockScene::text({"x b -,-", "y b -,-", "x b -,-", "y b -,-"}, ""));
  const Trace observed = parsed(LockScene::text({"x b none,w0", "x b none,w0", "x b none,w0"}, ""));
  const SectionFacts facts(plain, SectionFacts(observed));
  const Candidates found = lock_candidates(facts);
  bool is_shortened = false;
  for (const Candidate& candidate : found.candidates) {
    if (facts.sites.sites()[candidate.sites[0]].label != "work (w.cc:20)") continue;
    EXPECT_NE(candidate.improvement.optimisation, kinds::drop_lock);
    is_shortened |= candidate.improvement.optimisation == kinds::shorten_section;
  }
  EXPECT_TRUE(is_shortened);
  EXPECT_TRUE(std::ranges::any_of(found.ineligible, [](const Ineligible& refused) {
    return refused.reason == "only one thread's sections were observed: record longer, or with --sets=always";
  }));
}

TEST(LockCandidates, SectionsAroundAWaitAtAConditionStay) {
  const LockScene scene({"x b w0", "y b w8", "x b w0"},
                        "20000 x lock_acquire l a\n21000 x accesses none\n21000 x lock_release l\n21000 x sync_wait v\n"
                        "25000 y sync_signal v\n25100 x sync_woken v\n25100 x lock_acquire l a\n26000 x accesses none\n"
                        "26000 x lock_release l\n");
  for (const Candidate& candidate : scene.found.candidates) {
    for (const uint32_t s : candidate.improvement.sections) EXPECT_LT(scene.facts.sections[s].acquire_ns, 20'000);
  }
}

// After a wait the end of a section may move out, before one its beginning; the wait keeps its mutex.
TEST(LockCandidates, SectionsAroundAWaitAreShortenedOnItsOtherSide) {
  const LockScene scene({"x b w0", "y b w0"},
                        "20000 x lock_acquire l b\n20500 x accesses none\n20800 x accesses w0\n21000 x accesses none\n"
                        "21000 x lock_release l\n21000 x sync_wait v\n25000 y sync_signal v\n25100 x sync_woken v\n"
                        "25100 x lock_acquire l b\n25500 x accesses none\n25800 x accesses w0\n26100 x accesses none\n"
                        "26100 x lock_release l\n");
  const Candidate* shorter = scene.get(kinds::shorten_section);
  ASSERT_NE(shorter, nullptr);
  EXPECT_THAT(shorter->improvement.head_ns, ElementsAre(500, 0));
  EXPECT_THAT(shorter->improvement.tail_ns, ElementsAre(0, 300));
}

TEST(LockCandidates, DamagedTracesAreSurvived) {
  for (uint32_t seed = 0; seed < 100; ++seed) {
    const Trace trace = model::random_trace(seed, 500);
    const SectionFacts facts(trace);
    for (const Candidate& candidate : lock_candidates(facts).candidates)
      EXPECT_FALSE(candidate.improvement.sections.empty());
  }
}

// x and y wait for something else between what others change: the lock can be released meanwhile. What they compute
// there may depend on what they read before.
TEST(LockCandidates, WaitingInTheMiddleOfASectionMovesOut) {
  const LockScene scene({"x b w0,sleep,w0", "y b w0,sleep,w0", "x b w0", "y b w0,none,w0"});
  const Candidate* shorten = scene.get(kinds::shorten_section);
  ASSERT_NE(shorten, nullptr);
  EXPECT_EQ(shorten->in_middle, 2u);
  EXPECT_THAT(shorten->improvement.head_ns, ElementsAre(1000, 1000));
  EXPECT_THAT(shorten->improvement.tail_ns, ElementsAre(0, 0));
  EXPECT_EQ(scene.trace.frame_label(shorten->blocks_at), "work (w.cc:10)");
  // Sections that only read may share the lock instead.
  const LockScene readers({"x b r0,sleep,r0", "y b r0,sleep,r0", "x a w0", "y a w0"});
  EXPECT_NE(readers.get(kinds::reader_writer_lock), nullptr);
  EXPECT_EQ(readers.get(kinds::shorten_section), nullptr);
}

// x and y block inside of the part that touches shared data. They only compute in the middle, so nothing moves out.
TEST(LockCandidates, ABlockInWhatStaysIsNoReasonToMoveTheMiddle) {
  const LockScene scene({"x b w0,none,w0!,none", "y b w0,none,w0!,none", "x b w0", "y b w0"});
  const Candidate* shorten = scene.get(kinds::shorten_section);
  ASSERT_NE(shorten, nullptr);
  EXPECT_EQ(shorten->in_middle, 0u);
  EXPECT_FALSE(shorten->blocks_at.valid());
  EXPECT_THAT(shorten->improvement.tail_ns, ElementsAre(1000, 1000));
}

// What blocks at the end moves out there, and says nothing of what is computed in the middle.
TEST(LockCandidates, ABlockAtTheEndIsNotInTheMiddle) {
  const LockScene scene({"x b w0,none,w0,sleep", "y b w0,none,w0,sleep", "x b w0", "y b w0"});
  const Candidate* shorten = scene.get(kinds::shorten_section);
  ASSERT_NE(shorten, nullptr);
  EXPECT_EQ(shorten->in_middle, 0u);
  EXPECT_FALSE(shorten->blocks_at.valid());
  EXPECT_THAT(shorten->improvement.tail_ns, ElementsAre(1000, 1000));
  EXPECT_THAT(lock_notes(scene.trace, *shorten), ElementsAre("behind its release goes what blocks at work (w.cc:10)"));
}

// A section that sleeps before it changes anything: no cut shows where the sleep ends. Behind the change hardly
// anything moves, but the call that ends there is known.
TEST(LockCandidates, WhatBlocksInFrontIsSaid) {
  const LockScene scene({"x b sleep,w0<c,none@40", "y b sleep,w0<c,none@40", "x b w0", "y b w0"});
  const Candidate* shorten = scene.get(kinds::shorten_section);
  ASSERT_NE(shorten, nullptr);
  EXPECT_THAT(shorten->improvement.head_ns, ElementsAre(1000, 1000));
  EXPECT_THAT(shorten->improvement.tail_ns, ElementsAre(40, 40));
  EXPECT_THAT(lock_notes(scene.trace, *shorten),
              ElementsAre("in front of the lock goes what blocks at work (w.cc:10)"));
}

// What makes a file durable may follow the section: what it has to make durable is written by then. In front of it
// another thread may not have written yet what the section goes on to call durable.
TEST(LockCandidates, WhatMakesDurableMovesBehindASectionAndNotInFrontOfIt) {
  const LockScene scene({"x b w0 file,durable", "y b w0 file,durable", "x b w0 file,durable", "y b durable,w0"});
  const Candidate* shorten = scene.get(kinds::shorten_section);
  ASSERT_NE(shorten, nullptr);
  EXPECT_THAT(shorten->improvement.sections, ElementsAre(1, 2, 3));
  EXPECT_THAT(shorten->improvement.head_ns, ElementsAre(0, 0, 0));
  EXPECT_THAT(shorten->improvement.tail_ns, ElementsAre(1000, 1000, 1000));
  EXPECT_EQ(shorten->making_durable, 3u);
  EXPECT_THAT(
      lock_notes(scene.trace, *shorten),
      ElementsAre("3 sections end by making durable what was written: after the change, others may see it before "
                  "it is"));
  EXPECT_EQ(LockScene({"x b durable,w0", "y b durable,w0", "x b durable,w0"}).get(kinds::shorten_section), nullptr);
}

// Most find what they look for; two insert, and look first for as long as the others do.
TEST(LockCandidates, MostlyLookersLookAsReaders) {
  const LockScene scene({"x b r0", "y b r0", "x b r0", "y b r0,w0", "x b r0", "y b r0", "x b w0", "y b r0"});
  const Candidate* look = scene.get(kinds::shared_look);
  ASSERT_NE(look, nullptr);
  EXPECT_EQ(scene.get(kinds::reader_writer_lock), nullptr);
  EXPECT_THAT(look->improvement.part, ElementsAre(1, 1, 1, 0, 1, 1, 0, 1));
  EXPECT_THAT(look->improvement.look_ns, ElementsAre(0, 0, 0, 1000, 0, 0, 1000, 0));
  EXPECT_THAT(look->improvement.head_ns, ElementsAre(0, 0, 0, 0, 0, 0, 0, 0));
  EXPECT_EQ(LockScene({"x b w0", "y b r0", "x b w0", "y b w0"}).get(kinds::shared_look), nullptr);  // mostly writers
}

// What is computed after the look in vain, and before the insertion, needs no lock: the look is made again.
// The second section wrote what no other thread came to, this time.
TEST(LockCandidates, DataDecideWhichSectionsOfASiteTouchWhatOthersDo) {
  const LockScene scene({"x b w0", "x b w8", "y b w0"});
  EXPECT_EQ(scene.get(kinds::drop_lock), nullptr);
  ASSERT_FALSE(scene.found.ineligible.empty());
  EXPECT_EQ(scene.found.ineligible[0].reason, "which sections write what others use depends on the data");
  EXPECT_NE(LockScene({"x b w0", "x b none", "y b w0"}).get(kinds::drop_lock), nullptr);
}

TEST(LockCandidates, LookersComputeBetweenTheLooks) {
  const LockScene scene({"x b r0", "y b r0", "x b r0", "y b r0,none,none,w0", "x b r0", "y b r0"});
  const Candidate* look = scene.get(kinds::shared_look);
  ASSERT_NE(look, nullptr);
  EXPECT_THAT(look->improvement.head_ns, ElementsAre(0, 0, 0, 2000, 0, 0));
  EXPECT_EQ(look->in_middle, 1u);
}

// Forty sections change their keys' words; one inserts into the table that all look at. Two parts, if the table is
// divided, too.
TEST(LockCandidates, ASplitDividesTheDataThatHardlyASectionChanges) {
  std::vector<std::string> sections{"x b r64,w64,w128"};
  for (int i = 0; i < 10; ++i)
    for (const char* section : {"x b r64,w128", "y b r64,w192", "y b r64,w128", "x b r64,w192"})
      sections.emplace_back(section);
  const LockScene scene(sections);
  const Candidate* split = scene.get(kinds::split_lock);
  ASSERT_NE(split, nullptr);
  EXPECT_EQ(split->parts, 2u);
  EXPECT_EQ(split->dividing, 1u);
  ASSERT_EQ(split->improvement.sections.size(), 41u);
  EXPECT_EQ(split->improvement.part[0], split->improvement.part[1]);  // it inserts the key of the next one
  EXPECT_NE(split->improvement.part[1], split->improvement.part[2]);
  sections.insert(sections.end(), 5, "y b r64,w64,w192");
  EXPECT_EQ(LockScene(sections).get(kinds::split_lock), nullptr);  // too many insert
}

// All others only read the data that the first section made at first use: such data keeps no work within the lock.
TEST(LockCandidates, WhatIsMadeAtFirstUseMayBeReadOutside) {
  std::vector<std::string> sections{"x b w64,w0"};
  for (int i = 0; i < 40; ++i) sections.emplace_back(i % 2 == 0 ? "y b r64,w0" : "x b r64,w0");
  const LockScene scene(sections);
  const Candidate* shorten = scene.get(kinds::shorten_section);
  ASSERT_NE(shorten, nullptr);
  EXPECT_EQ(shorten->improvement.sections.size(), 40u);
  sections.emplace_back("x b w64,w0");
  EXPECT_EQ(LockScene(sections).get(kinds::shorten_section), nullptr);  // and later again
}

// Threads take a block (8 bytes at 64) from a list (at 0), clear it under the lock, and give it back later.
std::vector<std::string> blocks_taken(int times) {
  std::vector<std::string> sections;
  for (int i = 0; i < times; ++i) {
    const std::string thread = i % 2 == 0 ? "x" : "y";
    sections.push_back(thread + " b w0,w64@3000");
    sections.push_back(thread + " a w0");
  }
  return sections;
}

TEST(LockCandidates, WhatALaterSectionHandsOnMayBeTouchedBehindTheLock) {
  const LockScene scene(blocks_taken(40));
  const Candidate* shorten = scene.get(kinds::shorten_section);
  ASSERT_NE(shorten, nullptr);
  EXPECT_EQ(shorten->improvement.sections.size(), 40u);
  EXPECT_THAT(shorten->improvement.tail_ns, testing::Each(3000));
  EXPECT_THAT(shorten->improvement.head_ns, testing::Each(0));
  EXPECT_EQ(shorten->handing_on, 40u);
}

TEST(LockCandidates, WhatWasHandedOnAFewTimesMayBeChance) {
  EXPECT_EQ(LockScene(blocks_taken(10)).get(kinds::shorten_section), nullptr);
}

// Once y comes to the block while x has not given it back: the list does not order them.
TEST(LockCandidates, WhatAnotherThreadOnceTouchedBeforeIsNotHandedOn) {
  std::vector<std::string> sections = blocks_taken(40);
  sections.erase(sections.begin() + 41);  // x gives it back
  EXPECT_EQ(LockScene(sections).get(kinds::shorten_section), nullptr);
  // Nor where sections in between are not known: there it counts as not seen.
  sections = blocks_taken(40);
  sections[41] = "x a -";
  const LockScene unseen(sections);
  const Candidate* shorten = unseen.get(kinds::shorten_section);
  ASSERT_NE(shorten, nullptr);
  EXPECT_EQ(shorten->unknown, 1u);
}

// Both read what the other's last section wrote, and it has nothing to do with what they write at their ends.
TEST(LockCandidates, WhatIsTouchedByBurstsOfOneThreadIsNotHandedOn) {
  std::vector<std::string> sections;
  for (int burst = 0; burst < 40; ++burst) {
    const std::string thread = burst % 2 == 0 ? "x" : "y";
    for (int i = 0; i < 3; ++i) sections.push_back(thread + " b w0," + (burst % 3 == i ? "w64" : "w128") + "@3000");
  }
  EXPECT_EQ(LockScene(sections).get(kinds::shorten_section), nullptr);
}

// A counter to which all add orders nobody: no one uses its value.
TEST(LockCandidates, WhatIsOnlyCountedHandsNothingOn) {
  std::vector<std::string> sections = blocks_taken(40);
  for (std::string& section : sections) section.replace(section.find("w0"), 2, "m0");
  EXPECT_EQ(LockScene(sections).get(kinds::shorten_section), nullptr);
}

// Calls of a library that locks for itself, under a lock of the caller's.
TEST(LockCandidates, NoLockIsNeededAroundLocksThatGuardTheSame) {
  std::string text =
      "method m .work w.cc:1\nmethod n .get lib.cc:1\ncontext a - m:10\ncontext b - n:20\nlock outer mutex\nlock inner "
      "mutex\n"
      "access_set none complete\naccess_set own complete 64+8:r\naccess_set changes complete 0+8:rwc\n"
      "thread x\nthread y\n0 x thread_begin\n0 y thread_begin\n1 x lock_request outer a\n2 x lock_acquired outer\n"
      "3 x accesses none\n3 x lock_release outer\n";
  for (int i = 0; i < 8; ++i) {
    const std::string thread = i % 2 == 0 ? " x " : " y ";
    const auto add = [&](int ns, const std::string& what) {
      text += std::to_string(1000 * (i + 1) + ns) + thread + what + "\n";
    };
    add(0, "lock_acquire outer a");
    add(100, "accesses own");
    add(100, "lock_acquire inner b");
    add(200, "accesses changes");
    add(200, "lock_release inner");
    add(300, "accesses none");
    add(300, "lock_release outer");
  }
  const Trace trace = parsed(text);
  const Candidates found = lock_candidates(SectionFacts(trace));
  const auto drop = std::ranges::find_if(
      found.candidates, [](const Candidate& each) { return each.improvement.optimisation == kinds::drop_lock; });
  ASSERT_NE(drop, found.candidates.end());
  EXPECT_EQ(drop->improvement.sections.size(), 9u);
  EXPECT_EQ(drop->guarded_at, "get (lib.cc:20)");
  const std::vector<std::string> notes = lock_notes(trace, *drop);
  ASSERT_EQ(notes.size(), 1u);
  EXPECT_THAT(notes[0], testing::HasSubstr("by the lock of get (lib.cc:20)"));
}

// Each of the readers walks further along a list than the one before, and writes data of its own thread: as many cells
// as places in the list, times sections. They take little memory, and nothing is left out.
TEST(LockCandidates, AreFoundHoweverManyPlacesTheSectionsTouch) {
  constexpr int kSections = 8400;  // 35 million cells in sum
  std::string text =
      "method m .work w.cc:1\ncontext a - m:10\ncontext b - m:20\nlock l mutex\naccess_set w complete 0+8:rwc\n"
      "thread x\nthread y\n";
  for (int i = 0; i < kSections; ++i)
    text += fmt::format("access_set r{} complete 0+{}:r {}+8:rwc\n", i, 8 * (i + 1), (1 + i % 2) << 20);
  text +=
      "0 x thread_begin\n0 y thread_begin\n1 x lock_acquire l b\n1 y lock_request l b\n9 x accesses w\n"
      "9 x lock_release l\n10 y lock_acquired l\n19 y accesses w\n19 y lock_release l\n";
  for (int i = 0; i < kSections; ++i) {
    const int at_ns = 100 + 20 * i;
    const std::string_view thread = i % 2 == 0 ? "x" : "y";
    text += fmt::format("{0} {1} lock_acquire l a\n{2} {1} accesses r{3}\n{2} {1} lock_release l\n", at_ns, thread,
                        at_ns + 10, i);
  }
  const Trace trace = parsed(text);
  const SectionFacts facts(trace);
  const Candidates found = lock_candidates(facts);
  const auto is_shared = [](const Candidate& each) {
    return each.improvement.optimisation == kinds::reader_writer_lock;
  };
  const auto shared = std::ranges::find_if(found.candidates, is_shared);
  ASSERT_NE(shared, found.candidates.end());
  EXPECT_EQ(shared->improvement.sections.size(), static_cast<size_t>(kSections));
  for (const Ineligible& refused : found.ineligible) EXPECT_THAT(refused.reason, testing::HasSubstr("reader-writer"));
}

}  // namespace
}  // namespace contrafact::improve
