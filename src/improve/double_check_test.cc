#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <span>

#include "improve/kinds/kinds.h"
#include "improve/lock_scene_for_test.h"

namespace contrafact::improve {
namespace {

TEST(DoubleCheck, WhatIsMadeAtFirstUseMayBeDoubleChecked) {
  std::vector<std::string> sections{"x b w0"};
  for (int i = 0; i < 40; ++i) sections.push_back(i % 2 == 0 ? "y b r0" : "x b r0");
  const LockScene at_first(sections);
  const Candidate* check = at_first.get(kinds::double_check);
  ASSERT_NE(check, nullptr);
  EXPECT_EQ(check->improvement.part[0], 0u);
  EXPECT_EQ(check->improvement.look_ns[0], 1000);
  EXPECT_THAT(std::span(check->improvement.part).subspan(1), testing::Each(1u));
  std::vector<whatif::SectionEdit> edits = whatif::unedited(at_first.facts.sections);
  kinds::double_check->edit(at_first.trace, at_first.facts.sections, check->improvement, edits);
  EXPECT_EQ(std::ranges::count(edits, whatif::SectionEdit::Mode::none, &whatif::SectionEdit::mode), 40);
  sections.push_back("x b w0");
  EXPECT_EQ(LockScene(sections).get(kinds::double_check), nullptr);
  EXPECT_NE(LockScene(sections).get(kinds::shared_look), nullptr);
}

// A memo table that two sections put something into at first: the next entry would race with who looks.
TEST(DoubleCheck, WhatSeveralSectionsMadeIsNotDoubleChecked) {
  std::vector<std::string> sections{"x b w0", "y b w8"};
  for (int i = 0; i < 80; ++i) sections.push_back(i % 2 == 0 ? "y b r0" : "x b r8");
  EXPECT_EQ(LockScene(sections).get(kinds::double_check), nullptr);
  EXPECT_NE(LockScene(sections).get(kinds::shared_look), nullptr);
}

// Other code puts something into the table, too, if only at first: its next entry would race with who looks.
TEST(DoubleCheck, WhatOtherCodeMakesTooIsNotDoubleChecked) {
  std::vector<std::string> sections{"x b w0", "y c w8"};
  for (int i = 0; i < 80; ++i) sections.push_back(i % 2 == 0 ? "y b r0" : "x b r8");
  const LockScene at_first(sections);
  EXPECT_EQ(at_first.get(kinds::double_check), nullptr);
  EXPECT_NE(at_first.get(kinds::shared_look), nullptr);
  const auto is_refused = [](const Ineligible& one) { return one.optimisation == kinds::double_check; };
  const auto refused = std::ranges::find_if(at_first.found.ineligible, is_refused);
  ASSERT_NE(refused, at_first.found.ineligible.end());
  EXPECT_EQ(refused->reason, "other code may make some of what its sections look at");
}

TEST(DoubleCheck, WhatOtherCodeMakesOfItsOwnDoesNotMatter) {
  std::vector<std::string> sections{"x b w0", "y c w64"};
  for (int i = 0; i < 80; ++i) sections.push_back(i % 2 == 0 ? "y b r0" : "x b r0");
  EXPECT_NE(LockScene(sections).get(kinds::double_check), nullptr);
}

TEST(DoubleCheck, WhatUnknownSectionsOfOtherCodeMayMakeIsNotDoubleChecked) {
  std::vector<std::string> sections{"x b w8", "y c part"};
  for (int i = 0; i < 80; ++i) sections.push_back(i % 2 == 0 ? "y b r8" : "x b r8");
  EXPECT_EQ(LockScene(sections).get(kinds::double_check), nullptr);
}

// Of the section that makes a large table, not all that it touched is recorded.
TEST(DoubleCheck, WhatIsMadeAtFirstUseMayBeKnownInPart) {
  std::vector<std::string> sections{"x b part"};
  for (int i = 0; i < 40; ++i) sections.push_back(i % 2 == 0 ? "y b r0" : "x b r0");
  const LockScene at_first(sections);
  const Candidate* check = at_first.get(kinds::double_check);
  ASSERT_NE(check, nullptr);
  EXPECT_EQ(check->improvement.sections.size(), 40u);
  EXPECT_EQ(check->unknown, 1u);
  sections.push_back("x b part");
  EXPECT_EQ(LockScene(sections).get(kinds::double_check), nullptr);
}

}  // namespace
}  // namespace contrafact::improve
