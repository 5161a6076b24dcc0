#include "analysis/lock_likeness.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "analysis/text_trace_for_test.h"

namespace contrafact::analysis {
namespace {

using testing::ElementsAre;

// `kind` is of the object o; threads a, b, p.
std::vector<bool> by_use(const std::string& kind, const std::string& events) {
  const model::Trace trace =
      parsed("method m1 .pass q.cc:1\ncontext c0 - m1:2\nthread a\nthread b\nthread p\nlock o " + kind + "\n" + events);
  const std::vector<model::CriticalSection> sections = model::critical_sections(trace);
  return locks_by_use(trace, sections, model::sync_wakes(trace, sections));
}

// Each waits until the other has done something.
constexpr char kInTurns[] =
    "0 a sync_wait o c0\n10 b sync_signal o c0\n12 a sync_woken o\n20 b sync_wait o c0\n30 a sync_signal o c0\n"
    "32 b sync_woken o\n";

TEST(LockLikeness, WhoIsWokenByOthersThatWaitThereUsesALock) {
  EXPECT_THAT(by_use("futex", kInTurns), ElementsAre(true));
  EXPECT_THAT(by_use("condition", kInTurns), ElementsAre(true));
}

TEST(LockLikeness, WhatIsHeldIsNotLikeALockAndABarrierIsForWaiting) {
  EXPECT_THAT(by_use("once", kInTurns), ElementsAre(false));
  EXPECT_THAT(by_use("barrier", "0 a sync_wait o c0\n10 b sync_wait o c0\n12 a sync_woken o\n12 b sync_woken o\n"),
              ElementsAre(false));
}

TEST(LockLikeness, ConsumersWaitForAProducer) {
  EXPECT_THAT(by_use("condition",
                     "0 a sync_wait o c0\n0 b sync_wait o c0\n10 p sync_signal o c0\n12 a sync_woken o\n"
                     "30 p sync_signal o c0\n32 b sync_woken o\n"),
              ElementsAre(false));
}

TEST(LockLikeness, WhoWakesAllIsNoHolder) {
  EXPECT_THAT(by_use("futex",
                     "0 a sync_wait o c0\n10 b sync_broadcast o c0\n12 a sync_woken o\n20 b sync_wait o c0\n"
                     "30 a sync_broadcast o c0\n32 b sync_woken o\n"),
              ElementsAre(false));
}

TEST(LockLikeness, MostOfTheWaitDecides) {
  EXPECT_THAT(by_use("condition",
                     "0 a sync_wait o c0\n10 p sync_signal o c0\n12 a sync_woken o\n20 b sync_wait o c0\n"
                     "25 a sync_signal o c0\n26 b sync_woken o\n"),
              ElementsAre(false));
}

}  // namespace
}  // namespace contrafact::analysis
