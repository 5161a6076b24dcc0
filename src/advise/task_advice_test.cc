#include "advise/task_advice.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "improve/task_candidates.h"
#include "model/code_owners.h"
#include "model/facts.h"
#include "model/text_trace.h"

namespace contrafact::advise {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

// Why a change with these figures is left out.
std::string filtered(int64_t duration_ns, uint32_t peak, double mean) {
  Advices advices;
  advices.base.duration_ns = 1000;
  advices.base.peak_occupied = 20;
  advices.base.mean_occupied = 8.5;
  Advice advice;
  advice.effect.estimated = true;
  advice.effect.estimate.figures.duration_ns = duration_ns;
  advice.effect.estimate.figures.peak_occupied = peak;
  advice.effect.estimate.figures.mean_occupied = mean;
  judge(advice, advices, {});
  return advice.filtered;
}

TEST(TaskAdvice, AShorterRunMayHaveAFewThreadsMore) {
  EXPECT_THAT(filtered(550, 20, 8.6), IsEmpty()) << "more than before by less than runs differ";
  EXPECT_THAT(filtered(550, 21, 8.5), IsEmpty());
  EXPECT_THAT(filtered(550, 20, 12), IsEmpty()) << "the same work in half the time";
  EXPECT_THAT(filtered(550, 22, 8.5), HasSubstr("higher peak"));
  EXPECT_THAT(filtered(900, 20, 12), HasSubstr("higher mean"));
  EXPECT_THAT(filtered(990, 20, 8.6), HasSubstr("higher mean")) << "a gain within what runs differ by";
  EXPECT_THAT(filtered(990, 21, 8), HasSubstr("higher peak"));
}

// An operator of a library runs t1, which a line of the program began, and t2, which the library handed out itself when
// t1 had ended. Whoever changes the operator changes both.
std::string operator_trace(std::string_view second_place) {
  return "fact jvm.main shop.Main\nfact code.package.shop file:/srv/shop/\n"
         "fact code.package.flow file:/srv/lib/flow-core-1.2.jar\n"
         "method m1 shop.Main.main Main.java:1\nmethod m2 flow.Operator.run Operator.java:1\n"
         "method m3 flow.Operator.next Operator.java:9\n"
         "context c1 - m1:7\ncontext c2 c1 m3:9\ncontext c3 - m3:9\npool p thread_pool 1 1\nthread main\nthread w\n"
         "0 main task_spawn t1 c2 p m2\n1 w task_start t1\n2 w task_end t1\n3 main task_spawn t2 " +
         std::string(second_place) + " p m2\n4 w task_start t2\n5 w task_end t2\n";
}

improve::Candidates left_of(const std::string& text) {
  model::Trace trace = *model::parse_text(text);
  model::find_owners(trace);
  improve::Candidates found = improve::task_candidates(trace);
  leave_out_others_code(trace, found);
  return found;
}

TEST(TaskAdvice, WhatALibraryAlsoHandsOutByItselfNoLineChangesAlone) {
  const improve::Candidates found = left_of(operator_trace("c3"));
  EXPECT_THAT(found.candidates, IsEmpty());
  ASSERT_THAT(found.ineligible, SizeIs(2));
  EXPECT_THAT(found.ineligible[0].reason + found.ineligible[1].reason,
              HasSubstr("flow-core hands out others of its tasks by itself"));
  EXPECT_THAT(left_of(operator_trace("c2")).candidates, SizeIs(1)) << "all by that line";
}

}  // namespace
}  // namespace contrafact::advise
