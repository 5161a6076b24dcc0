#include "advise/flow_advice.h"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include "model/text_trace.h"

namespace contrafact::advise {
namespace {

using testing::HasSubstr;

// Threads a to d hold the monitor l for 1 ms each, one after the other, and that again and again; `touched` by thread. Each
// section gets something from the one before it if `chained`.
std::string taking_turns(const std::vector<std::string>& touched, bool chained, const std::string& field) {
  std::string text = "fact cores 4\nfact sets.source bytecode\nfact field.1 " + field +
                     "\nmethod m1 shop.Work.run Work.java:1\ncontext c0 - m1:1\nlock l monitor \"shop.Work\"\n";
  constexpr int kRounds = 5;
  for (size_t i = 0; i < touched.size(); ++i) {
    const std::string t(1, static_cast<char>('a' + i));
    text += fmt::format("thread {}\naccess_set s{} complete {}\n0 {} thread_begin\n", t, t, touched[i], t);
    int64_t ready_ns = 0;
    for (int round = 0; round < kRounds; ++round) {
      const int64_t number = round * static_cast<int64_t>(touched.size()) + static_cast<int64_t>(i);
      const int64_t begin_ns = number * 1'000'000, end_ns = begin_ns + 1'000'000;
      text += begin_ns > ready_ns
                  ? fmt::format("{} {} lock_request l c0\n{} {} lock_acquired l\n", ready_ns, t, begin_ns, t)
                  : fmt::format("{} {} lock_acquire l c0\n", begin_ns, t);
      text += fmt::format("{} {} section_taint {}\n{} {} accesses s{}\n{} {} lock_release l\n", begin_ns, t, number + 1,
                          end_ns, t, t, end_ns, t);
      if (chained && number > 0)
        text +=
            fmt::format("{} {} flow_into {}\n{} {} flow_from {} direct\n", end_ns, t, number + 1, end_ns, t, number);
      ready_ns = end_ns;
    }
    text += fmt::format("{} {} thread_end\n", ready_ns, t);
  }
  return text;
}

struct Advised {
  explicit Advised(const std::string& text) : trace(*model::parse_text(text)) {
    const Pricer pricer(facts, &sections, {});
    const model::SectionFlows flows =
        model::with_outside(trace, sections.sections, model::section_flows(trace, sections.sections));
    advice = advise_flows(pricer, flows, model::MemoryNames(trace), {});
  }
  model::Trace trace;
  model::Facts facts{trace};
  analysis::SectionFacts sections{facts};
  FlowAdvice advice;
};

constexpr const char* kSame = "0x100000008+4:rwc";

TEST(FlowAdvice, WhatNeverConflictsIsOverSynchronised) {
  const Advised run(
      taking_turns({"0x100000008+4:rwc", "0x200000008+4:rwc", "0x300000008+4:rwc"}, false, "shop.Work.x"));
  ASSERT_EQ(run.advice.locks.size(), 1u);
  const LockFlowAdvice& lock = run.advice.locks[0];
  EXPECT_EQ(lock.pattern, FlowPattern::over_synchronised);
  EXPECT_DOUBLE_EQ(*lock.goes_with_conflicts, 1);
  EXPECT_NEAR(lock.gains.conflicts->share, 2.0 / 3, 0.02);
  EXPECT_THAT(advice_text(lock), HasSubstr("finer locks"));
}

TEST(FlowAdvice, ConflictsWithoutFlowsAreNotNeeded) {
  const Advised run(taking_turns({kSame, kSame, kSame}, false, "java.util.Hashtable.count"));
  const LockFlowAdvice& lock = run.advice.locks.at(0);
  EXPECT_EQ(lock.pattern, FlowPattern::conflicts_not_needed);
  EXPECT_DOUBLE_EQ(*lock.goes_with_conflicts, 0);
  EXPECT_DOUBLE_EQ(*lock.goes_with_flows, 1);
  ASSERT_NE(lock.replacement, nullptr);
  EXPECT_EQ(lock.replacement->by, "java.util.concurrent.ConcurrentHashMap");
  EXPECT_THAT(advice_text(lock), HasSubstr("java.util.Hashtable.count"));
  ASSERT_TRUE(run.advice.next.has_value());
  EXPECT_FALSE(run.advice.next->next.valid());
}

TEST(FlowAdvice, AChainOfFlowsIsNeither) {
  const Advised run(taking_turns({kSame, kSame, kSame}, true, "shop.Log.hash"));
  const LockFlowAdvice& lock = run.advice.locks.at(0);
  EXPECT_EQ(lock.pattern, FlowPattern::neither);
  EXPECT_EQ(advice_text(lock), "stop looking here");
  EXPECT_FALSE(run.advice.next.has_value());
}

// Half of the threads write one place and half another one: finer locks bring half of it, and another data structure the rest.
TEST(FlowAdvice, BothMayMatch) {
  const std::string other = "0x200000008+4:rwc";
  const Advised run(taking_turns({kSame, other, kSame, other}, false, "shop.Work.x"));
  const LockFlowAdvice& lock = run.advice.locks.at(0);
  EXPECT_EQ(lock.pattern, FlowPattern::both) << why_text(lock);
  EXPECT_LT(lock.gains.conflicts->share, lock.gains.flows->share);
}

// The text without the lines that have `word`.
std::string without(std::string text, std::string_view word) {
  for (size_t at; (at = text.find(word)) != std::string::npos;) {
    const size_t begin = text.rfind('\n', at) + 1;
    text.erase(begin, text.find('\n', at) + 1 - begin);
  }
  return text;
}

TEST(FlowAdvice, WhatWasNotSeenIsNotKnown) {
  const std::string text = taking_turns({kSame, kSame}, false, "shop.Work.x");
  EXPECT_EQ(Advised(without(text, "section_taint")).advice.locks.at(0).pattern, FlowPattern::not_known);
  EXPECT_EQ(Advised(without(text, " accesses ")).advice.locks.at(0).pattern, FlowPattern::either);
}

}  // namespace
}  // namespace contrafact::advise
