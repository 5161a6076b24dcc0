#include "improve/observation.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "analysis/text_trace_for_test.h"
#include "improve/lock_candidates.h"
#include "improve/lock_notes.h"

namespace contrafact::improve {
namespace {

using analysis::parsed;
using analysis::SectionFacts;

// Two threads take turns at one lock `all` times and add to one word; `observed` of the sections show that.
std::string adding(int all, int observed) {
  std::string text =
      "method m .work w.cc:1\ncontext c - m:10\nlock l mutex\naccess_set adds complete 0+8:rwc\n"
      "access_set unseen outside_window\nthread x\nthread y\n0 x thread_begin\n0 y thread_begin\n";
  for (int i = 0; i < all; ++i) {
    const char thread = i % 2 == 0 ? 'x' : 'y';
    const int begin_ns = 1000 * (i + 1);
    // The first one has to be waited for: else nobody looks at the lock.
    text += i == 1 ? fmt::format("{} y lock_request l c\n{} y lock_acquired l\n", begin_ns - 600, begin_ns)
                   : fmt::format("{} {} lock_acquire l c\n", begin_ns, thread);
    const bool is_observed = i * observed / all != (i + 1) * observed / all;
    text += fmt::format("{0} {1} accesses {2}\n{0} {1} lock_release l\n", begin_ns + 500, thread,
                        is_observed ? "adds" : "unseen");
  }
  return text;
}

TEST(Observation, FewOfManyAreLittle) {
  Candidate candidate{.of_sections = 1260, .observed = 8};
  EXPECT_TRUE(is_little_observed(candidate));
  candidate.observed = 59;
  EXPECT_TRUE(is_little_observed(candidate));
  candidate.observed = 60;
  EXPECT_FALSE(is_little_observed(candidate));
  EXPECT_FALSE(is_little_observed({.of_sections = 6, .observed = 3}));
  EXPECT_TRUE(is_little_observed({.of_sections = 7, .observed = 3}));
  EXPECT_FALSE(is_little_observed({.of_sections = 1260}));  // a spec's
  EXPECT_FALSE(is_little_observed({}));                     // a task's
}

// Each kind that finds something there says it.
TEST(Observation, EveryKindSaysIt) {
  for (const int observed : {8, 100}) {
    const model::Trace trace = parsed(adding(400, observed));
    const SectionFacts facts(trace);
    const Candidates found = lock_candidates(facts);
    ASSERT_FALSE(found.candidates.empty());
    for (const Candidate& candidate : found.candidates) {
      EXPECT_EQ(candidate.observed, observed);
      EXPECT_EQ(is_little_observed(candidate), observed == 8);
      const auto note = testing::Contains(
          "only 8 of 400 sections were observed, and others may differ: record longer, or with --sets=always");
      if (observed == 8) {
        EXPECT_THAT(lock_notes(trace, candidate), note);
      } else {
        EXPECT_THAT(lock_notes(trace, candidate), testing::Not(note));
      }
    }
  }
}

}  // namespace
}  // namespace contrafact::improve
