#include "advise/ranking.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "improve/kinds/kinds.h"

namespace contrafact::advise {
namespace {

using testing::ElementsAre;

// A document of improvements with these figures; the best combination is none until a test says which.
AdviceDocument document_of(const model::Facts& facts, const whatif::Figures& base,
                           const std::vector<whatif::Figures>& after) {
  AdviceDocument document{.facts = &facts};
  document.advices.base = base;
  for (const whatif::Figures& figures : after) {
    Advice& advice = document.advices.ranked.emplace_back();
    advice.candidate.improvement.optimisation = improve::kinds::cores;
    advice.effect.estimate.figures = figures;
    advice.effect.estimated = true;
  }
  return document;
}

whatif::Figures figures_of(int64_t duration_ns, uint32_t peak_occupied, double mean_occupied) {
  whatif::Figures figures{};
  figures.duration_ns = duration_ns;
  figures.peak_occupied = peak_occupied;
  figures.mean_occupied = mean_occupied;
  return figures;
}

TEST(Ranking, GainsBelowNoiseAreOnlyCounted) {
  const model::Trace trace;
  const model::Facts facts(trace);
  AdviceDocument document =
      document_of(facts, figures_of(1000, 26, 10),
                  {figures_of(980, 26, 10), figures_of(981, 26, 10), figures_of(1000, 24, 10), figures_of(1000, 25, 10),
                   figures_of(1000, 26, 9.5), figures_of(1000, 26, 9.6)});
  Shown shown = shown_of(document);
  EXPECT_THAT(shown.others, ElementsAre(0, 2, 4));
  EXPECT_EQ(shown.untellable, 3u);
  document.best.members = {1, 2};  // a member is shown whatever it gains by itself
  document.shown = 1;
  shown = shown_of(document);
  EXPECT_THAT(shown.best, ElementsAre(1, 2));
  EXPECT_THAT(shown.others, ElementsAre(0));
  EXPECT_EQ(shown.cut, 1u);
  EXPECT_EQ(shown.untellable, 2u);
  document.all = true;
  shown = shown_of(document);
  EXPECT_THAT(shown.others, ElementsAre(0, 3, 4, 5));
  EXPECT_EQ(shown.cut + shown.untellable, 0u);
}

TEST(Ranking, RanksAreShownWithoutHoles) {
  const model::Trace trace;
  const model::Facts facts(trace);
  AdviceDocument document = document_of(facts, figures_of(1000, 26, 10),
                                        {figures_of(999, 26, 10), figures_of(998, 26, 10), figures_of(900, 26, 10)});
  document.best.members = {1};
  rank_as_shown(document);
  const Shown shown = shown_of(document);
  EXPECT_THAT(shown.best, ElementsAre(0));
  EXPECT_THAT(shown.others, ElementsAre(1));
  EXPECT_EQ(document.advices.ranked[0].effect.estimate.figures.duration_ns, 998);
  EXPECT_EQ(document.advices.ranked[1].effect.estimate.figures.duration_ns, 900);
  EXPECT_EQ(document.advices.ranked[2].effect.estimate.figures.duration_ns, 999);
}

TEST(Ranking, TheSummarySaysWhatToDoAndWhatItCosts) {
  const model::Trace trace;
  const model::Facts facts(trace);
  AdviceDocument document = document_of(facts, figures_of(10'000, 26, 10), {{}, {}});
  document.best.effect.estimated = true;
  document.best.members = {0, 1};
  document.best.effect.estimate.figures = figures_of(8'000, 13, 9);
  EXPECT_EQ(summary_sentence(document),
            "Make these 2 changes together: 26 -> 13 (-50 %) threads at work or waiting at peak, 10 -> 9 (-10 %) on "
            "average; the run "
            "takes 10 us -> 8 us (-20 %, estimated).");
  document.best.members = {0};
  document.advices.base.mean_response_ns = 100;
  document.best.effect.estimate.figures.mean_response_ns = 104;
  document.best.effect.estimate.figures.duration_ns = 10'100;
  EXPECT_EQ(summary_sentence(document),
            "Make this change: 26 -> 13 (-50 %) threads at work or waiting at peak, 10 -> 9 (-10 %) on average; the "
            "run takes as long "
            "as before (10 us -> 10.1 us, estimated); but its outermost tasks take 4 % longer on average.");
  document.best.effect.partly_estimated = true;  // a pool's size changes, too: the tasks' threads are not all
  EXPECT_EQ(summary_sentence(document),
            "Make this change: the run takes as long as before (10 us -> 10.1 us, estimated).");
  document.best.effect.partly_estimated = false;
  document.best.effect.estimate.figures = figures_of(8'000, 26, 10);
  EXPECT_EQ(summary_sentence(document), "Make this change: the run takes 10 us -> 8 us (-20 %, estimated).");
  document.best.effect.estimate.figures = document.advices.base;
  EXPECT_THAT(summary_sentence(document), testing::StartsWith("Nothing gains more than repeated runs differ by"));
}

TEST(Ranking, NothingIsToBeChangedFirstWhereNothingGains) {
  const model::Trace trace;
  const model::Facts facts(trace);
  AdviceDocument document =
      document_of(facts, figures_of(1'000, 10, 9), {figures_of(999, 10, 9), figures_of(900, 10, 9)});
  EXPECT_EQ(first_sentence(document, "cores 2 -> 3", "the machine"), "");
  EXPECT_EQ(summary_sentence(document), "Nothing gains more than repeated runs differ by.");
  rank_as_shown(document);
  EXPECT_THAT(first_sentence(document, "cores 2 -> 3", "the machine"), testing::StartsWith("Change first: cores 2"));
}

}  // namespace
}  // namespace contrafact::advise
