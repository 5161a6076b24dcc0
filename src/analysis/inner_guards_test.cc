#include "analysis/inner_guards.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "analysis/section_facts.h"
#include "analysis/text_trace_for_test.h"

namespace contrafact::analysis {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::Pair;

// The bytes that the outer lock's sections touch and that are guarded inside.
std::vector<std::pair<uint64_t, uint64_t>> inside(std::string_view events) {
  const model::Trace trace = parsed(
      "method m .work w.cc:1\nmethod n .get lib.cc:1\ncontext a - m:10\ncontext b - n:20\n"
      "lock outer mutex \"\"\nlock inner mutex \"\"\nlock other mutex \"\"\nlock many rwlock \"\"\naccess_set none "
      "complete\n"
      "access_set looks complete 0+8:r\naccess_set changes complete 0+8:rwc\naccess_set both complete 0+8:rwc "
      "64+8:rwc\n"
      "thread x\nthread y\n" +
      std::string(events));
  return SectionFacts(trace).inner_guards[0].ranges;
}

// "outer[...]" of a thread, from `at` on; each of `inner`: "LOCK SET", 10 ns.
std::string outer(std::string_view thread, int at, const std::vector<std::string>& inner,
                  std::string_view own = "none") {
  std::string out;
  const auto add = [&](int ns, const std::string& what) {
    out += std::to_string(ns) + " " + std::string(thread) + " " + what + "\n";
  };
  add(at, "lock_acquire outer a");
  for (const std::string& each : inner) {
    const std::string lock = each.substr(0, each.find(' ')), set = each.substr(each.find(' ') + 1);
    add(at, "accesses none");
    add(at, (lock == "many" ? "lock_acquire_shared " : "lock_acquire ") + lock + " b");
    add(at + 10, "accesses " + set);
    add(at + 10, "lock_release " + lock);
    at += 10;
  }
  add(at + 5, "accesses " + std::string(own));
  add(at + 5, "lock_release outer");
  return out;
}

TEST(InnerGuards, AreLocksThatAllSectionsTakeInsideForWhatTheyTouch) {
  EXPECT_THAT(inside(outer("x", 0, {"inner both"}) + outer("y", 100, {"inner both"})),
              ElementsAre(Pair(0, 8), Pair(64, 72)));
}

TEST(InnerGuards, OfDifferentLocksGuardNothing) {
  EXPECT_THAT(inside(outer("x", 0, {"inner both"}) + outer("y", 100, {"other both"})), IsEmpty());
}

TEST(InnerGuards, LeaveWhatIsAlsoTouchedOutsideOfThem) {
  EXPECT_THAT(inside(outer("x", 0, {"inner both"}) + outer("y", 100, {"inner both"}, "looks")),
              ElementsAre(Pair(64, 72)));
}

TEST(InnerGuards, DoNotMakeOneStepOfALookAndAChange) {
  EXPECT_THAT(inside(outer("x", 0, {"inner looks", "inner changes"}) + outer("y", 100, {"inner both"})),
              ElementsAre(Pair(64, 72)));
}

// As a count of references: each section changes it, and the first one as well.
TEST(InnerGuards, AreEnoughForTwoChanges) {
  EXPECT_THAT(inside(outer("x", 0, {"inner changes", "inner changes"}) + outer("y", 100, {"inner changes"})),
              ElementsAre(Pair(0, 8)));
}

}  // namespace
}  // namespace contrafact::analysis
