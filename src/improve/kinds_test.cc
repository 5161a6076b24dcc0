#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "improve/kinds/kinds.h"
#include "improve/section_change.h"
#include "model/text_trace.h"
#include "whatif/estimate.h"
#include "whatif/lock_edits.h"

namespace contrafact::improve {
namespace {

using whatif::Improvement;
using whatif::section_improvement;
using whatif::SectionEdit;

using Mode = SectionEdit::Mode;
using testing::HasSubstr;

// Three sections of `l`, of 10 ns each; then a wait at `v`.
constexpr std::string_view kRun =
    "lock l mutex\nlock v condition\nthread x\nthread y\n"
    "0 x lock_acquire l\n10 x lock_release l\n20 y lock_acquire l\n30 y lock_release l\n"
    "40 x lock_acquire l\n50 x lock_release l\n50 x sync_wait v\n60 y sync_signal v\n60 x sync_woken v\n"
    "60 x lock_acquire l\n70 x lock_release l\n";

class LockEdits : public testing::Test {
 protected:
  base::Result<std::vector<SectionEdit>> make(const std::vector<Improvement>& improvements) const {
    return whatif::edits_of(trace_, sections_, improvements);
  }
  std::string refused(const Improvement& improvement) const {
    const auto made = make({improvement});
    return made.ok() ? "made" : made.error().message;
  }
  const model::Trace trace_ = *model::parse_text(kRun);
  const std::vector<model::CriticalSection> sections_ = model::critical_sections(trace_);
};

TEST_F(LockEdits, EachOptimisationChangesItsSectionsOnly) {
  ASSERT_EQ(sections_.size(), 5u);
  const auto plain = *make({});
  EXPECT_EQ(plain, whatif::unedited(std::span(sections_)));
  const auto dropped = *make({section_improvement(kinds::drop_lock, {1})});
  EXPECT_EQ(dropped[1].mode, Mode::none);
  EXPECT_EQ(dropped[0], plain[0]);
  EXPECT_EQ((*make({section_improvement(kinds::reader_writer_lock, {0, 1})}))[1].mode, Mode::shared);
  EXPECT_EQ((*make({section_improvement(kinds::make_atomic, {0})}))[0].mode, Mode::none);
  const auto split = *make({section_improvement(kinds::split_lock, {0, 1}, {0, 1})});
  EXPECT_EQ(split[0].lock, 0u);
  EXPECT_EQ(split[1].lock, trace_.locks.size());
  const auto shorter = *make({section_improvement(kinds::shorten_section, {0}, {}, {4}, {9})});
  EXPECT_EQ(shorter[0].head_outside_ns, 4);
  EXPECT_EQ(shorter[0].tail_outside_ns, 6);  // no more than there is
}

TEST_F(LockEdits, TwoSplitsMakeDifferentLocks) {
  const auto twice =
      *make({section_improvement(kinds::split_lock, {0, 1}, {0, 1}), section_improvement(kinds::split_lock, {0}, {1})});
  EXPECT_EQ(twice[1].lock, 2u);
  EXPECT_EQ(twice[0].lock, 3u);
}

TEST_F(LockEdits, ASplitMayTakeTwoPartsOrAll) {
  Improvement split = section_improvement(kinds::split_lock, {0, 1}, {0, 1});
  split.also_part = {2, Improvement::kAllParts};
  const auto edits = *make({split});
  EXPECT_EQ(edits[0].lock, 0u);
  EXPECT_EQ(edits[0].also, 2u);
  EXPECT_EQ(edits[1].lock, 3u);
  EXPECT_EQ(edits[1].also, SectionEdit::kAllLocks);
  split.also_part = {0, 1};  // their own
  const auto own = *make({split});
  for (const SectionEdit& edit : own) EXPECT_EQ(edit.also, SectionEdit::kNoLock);
  split.also_part = {0};
  EXPECT_THAT(refused(split), HasSubstr("no part"));
}

TEST_F(LockEdits, WhatCannotBeMadeSaysWhy) {
  EXPECT_THAT(refused(section_improvement(kinds::drop_lock, {9})), HasSubstr("drop-lock: a section does not exist"));
  EXPECT_THAT(refused(section_improvement(kinds::drop_lock, {2})), HasSubstr("a wait at a condition"));
  EXPECT_THAT(refused(section_improvement(kinds::drop_lock, {3})), HasSubstr("a wait at a condition"));
  EXPECT_THAT(refused(section_improvement(kinds::drop_lock, {4})), HasSubstr("never held"));  // the wait itself
  EXPECT_THAT(refused(section_improvement(kinds::split_lock, {1})), HasSubstr("no part"));
  const auto both =
      make({section_improvement(kinds::drop_lock, {0}), section_improvement(kinds::reader_writer_lock, {0})});
  ASSERT_FALSE(both.ok());
  EXPECT_THAT(both.error().message, HasSubstr("has no lock any more"));
}

TEST(Kinds, HaveNamesOfTheirOwnAndTurnsOfTheirOwn) {
  std::set<std::string_view> names;
  std::set<int> turns;
  size_t of_sections = 0;
  for (const Kind* kind : all_kinds()) {
    names.insert(kind->name());
    if (kind->target() != whatif::Target::sections) continue;
    ++of_sections;
    turns.insert(static_cast<const SectionChange*>(kind)->turn());
  }
  EXPECT_EQ(names.size(), all_kinds().size());
  EXPECT_EQ(turns.size(), of_sections);
}

TEST(Kinds, AllTasksOfAPlaceAreNoBranch) {
  const model::Trace trace = *model::parse_text(
      "thread main\nthread w\npool p thread_pool 1\n0 main task_spawn t1 - p\n1 main wait_begin t1\n"
      "2 w task_start t1\n3 w task_end t1\n4 main wait_end t1\n");
  const whatif::Estimator estimator = *whatif::Estimator::create(trace);
  const Improvement all{.optimisation = kinds::hoist_branch, .tasks = {model::TaskId(0)}, .context_tasks = 1};
  const auto estimate = estimator.estimate(std::span(&all, 1));
  ASSERT_FALSE(estimate.ok());
  EXPECT_THAT(estimate.error().message, HasSubstr("hoist-branch: every task of the place takes the branch"));
}

}  // namespace
}  // namespace contrafact::improve
