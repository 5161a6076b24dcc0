#include "analysis/made_locks.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "analysis/section_facts.h"
#include "analysis/text_trace_for_test.h"

namespace contrafact::analysis {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::Pair;

// A library's function, called by two threads in turns with a lock around it: sections of `word` by the code a and b,
// with what they touch; in between what "between" touches.
struct Calls {
  explicit Calls(std::vector<std::string> steps, int calls = 30) {
    std::string text =
        "method m .work w.cc:1\nmethod n .take lib.cc:1\nmethod o .give_up lib.cc:2\ncontext c - m:10\ncontext a - "
        "n:20\n"
        "context b - o:30\nlock outer mutex\nlock word mutex\naccess_set none complete\n"
        "access_set takes complete 0+4:rwc 8+8:wc\naccess_set gives complete 0+4:rwc 8+8:wc\n"
        "access_set adds complete 0+4:rwcm\naccess_set looks complete 0+4:r\naccess_set pops complete 0+4:rwc "
        "400+8:rwc\naccess_set clears complete 0+4:wc\n"
        "access_set between complete 64+4:rwc\nthread x\nthread y\n";
    for (int call = 0; call < calls; ++call) {
      const std::string thread = call % 2 == 0 ? "x" : "y";
      int at = 1000 * call;
      const auto add = [&](const std::string& what) { text += fmt::format("{} {} {}\n", ++at, thread, what); };
      add("lock_acquire outer c");
      for (const std::string& step : steps) {
        add("accesses " + (step == "between" ? step : "none"));
        if (step == "between") continue;
        add("lock_acquire word " + step.substr(0, 1));
        add("accesses " + step.substr(2));
        add("lock_release word");
      }
      add("accesses none");
      add("lock_release outer");
    }
    trace = parsed(text);
  }

  // What needs no lock around the calls.
  std::vector<std::pair<uint64_t, uint64_t>> guarded() const { return SectionFacts(trace).inner_guards[0].ranges; }

  model::Trace trace;
};

TEST(MadeLocks, AreHeldFromOneSectionToTheNext) {
  const Calls calls({"a takes", "between", "b gives"});
  EXPECT_THAT(calls.guarded(), ElementsAre(Pair(0, 4), Pair(8, 16), Pair(64, 68)));
  EXPECT_TRUE(SectionFacts(calls.trace).inner_guards[0].is_made);
  EXPECT_THAT(Calls({"a takes", "between", "b clears"}).guarded(), ElementsAre(Pair(0, 4), Pair(8, 16), Pair(64, 68)));
}

TEST(MadeLocks, MayBeTakenAgain) {
  EXPECT_THAT(Calls({"a takes", "a takes", "b gives", "between", "b gives"}).guarded(),
              ElementsAre(Pair(0, 4), Pair(8, 16), Pair(64, 68)));
}

TEST(MadeLocks, AreNotHeldBehindTheSectionThatGivesThemUp) {
  EXPECT_THAT(Calls({"a takes", "b gives", "between"}).guarded(), ElementsAre(Pair(0, 4), Pair(8, 16)));
  EXPECT_THAT(Calls({"a takes", "between", "b gives", "between"}).guarded(), ElementsAre(Pair(0, 4), Pair(8, 16)));
}

// A count of the calls that are under way, and two sections that each do something of their own.
TEST(MadeLocks, AreNoCounts) {
  for (const auto& steps : std::vector<std::vector<std::string>>{{"a adds", "between", "b adds"},
                                                                 {"a takes", "between", "b adds"},
                                                                 {"a adds", "between", "b takes"},
                                                                 {"a looks", "between", "b takes"},
                                                                 {"a pops", "between", "b pops"},
                                                                 {"a takes", "between", "a takes"},
                                                                 {"b gives", "between", "a takes", "a takes"}})
    EXPECT_THAT(Calls(steps).guarded(), testing::Not(testing::Contains(Pair(64, 68))))
        << steps.front() << ", " << steps.back();
}

TEST(MadeLocks, NeedToHaveBeenSeenOften) {
  EXPECT_THAT(Calls({"a takes", "between", "b gives"}, 10).guarded(), ElementsAre(Pair(0, 4), Pair(8, 16)));
}

}  // namespace
}  // namespace contrafact::analysis
