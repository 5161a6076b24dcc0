#include "advise/section_advice.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "model/text_trace.h"

namespace contrafact::advise {
namespace {

// In each round, both threads hold lock l for 4 us and k for 1 us, and add to a word; the other one waits meanwhile.
// They take turns at being first. Of l's sections `observed` are observed, of k's all.
std::string two_locks(int observed) {
  constexpr int kRounds = 100;
  std::string text =
      "fact agent native\nfact cores 2\nmethod m .work w.cc:1\ncontext at_l - m:10\ncontext at_k - m:20\n"
      "lock l mutex\nlock k mutex\naccess_set l_adds complete 0+8:rwcm\naccess_set k_adds complete 64+8:rwcm\n"
      "access_set unseen outside_window\nthread x\nthread y\n0 x thread_begin\n0 y thread_begin\n";
  for (int round = 0; round < kRounds; ++round) {
    const char first = round % 2 == 0 ? 'x' : 'y', second = round % 2 == 0 ? 'y' : 'x';
    const int begin_ns = 1000 + 10'000 * round;
    const auto add = [&](int at_ns, char thread, std::string_view what) {
      text += fmt::format("{} {} {}\n", begin_ns + at_ns, thread, what);
    };
    const std::string l_set = 2 * round < observed ? "accesses l_adds" : "accesses unseen";
    add(0, first, "lock_acquire l at_l");
    add(100, second, "lock_request l at_l");
    add(4000, first, l_set);
    add(4000, first, "lock_release l");
    add(4000, second, "lock_acquired l");
    add(4100, second, l_set);
    add(4100, second, "lock_release l");
    add(5000, first, "lock_acquire k at_k");
    add(5100, second, "lock_request k at_k");
    add(6000, first, "accesses k_adds");
    add(6000, first, "lock_release k");
    add(6000, second, "lock_acquired k");
    add(6100, second, "accesses k_adds");
    add(6100, second, "lock_release k");
  }
  return text + fmt::format("{0} x thread_end\n{0} y thread_end\n", 1000 + 10'000 * kRounds);
}

std::vector<std::pair<std::string, bool>> ranked(int observed) {
  const model::Trace trace = *model::parse_text(two_locks(observed));
  const model::Facts facts(trace);
  const analysis::SectionFacts sections(facts);
  const Pricer pricer(facts, &sections, {});
  std::vector<std::pair<std::string, bool>> rows;  // place, and whether it gains a hundredth
  for (const Advice& advice : advise_sections(pricer, {}).ranked)
    rows.emplace_back(sections.sites.sites()[advice.candidate.sites[0]].label,
                      section_gain(advice.effect).share >= kGainTie);
  return rows;
}

// The lock that is held longer gains more, but its advice rests on eight sections.
TEST(SectionAdvice, WhatFewSectionsShowStandsBehindWhatManyShow) {
  const auto few = ranked(8), many = ranked(200);
  const std::pair<std::string, bool> at_l{"work (w.cc:10)", true}, at_k{"work (w.cc:20)", true};
  ASSERT_GE(few.size(), 2u);
  EXPECT_EQ(few[0], at_k);
  EXPECT_EQ(few[1], at_l);
  ASSERT_GE(many.size(), 2u);
  EXPECT_EQ(many[0], at_l);
}

TEST(SectionAdvice, WhyNothingWasObservedIsSaid) {
  const auto reason = [](std::string_view facts) {
    return no_sets_reason(*model::parse_text(fmt::format("fact agent native\n{}lock l mutex\n", facts)));
  };
  EXPECT_EQ(
      reason(""),
      "the trace does not say what critical sections read and wrote; contrafact record --sets -o run.cft -- PROGRAM "
      "records them");
  EXPECT_EQ(reason("fact sets.source translation\n"),
            "what critical sections read and wrote was to be recorded, but none of them was observed");
  EXPECT_EQ(reason("fact sets.source translation\nfact sets.left.signal 2\nfact sets.left.generated_code 1260\n"),
            "what critical sections read and wrote was to be recorded, but none of them was observed: threads left the "
            "observed code 1260 times for 'generated_code' (docs/native.md)");
}

}  // namespace
}  // namespace contrafact::advise
