// The best set of improvements to make together, of any kinds.
#pragma once

#include <vector>

#include "advise/advice.h"

namespace contrafact::advise {

struct Combination {
  std::vector<size_t> members;  // indexes into Advices::ranked, in ascending order; empty: nothing is worth making
  Effect effect;                // with its estimated trace, where only tasks change
  double score = 1;
  uint64_t estimated = 0;   // combinations of tasks' improvements that were estimated
  bool exhaustive = false;  // these are all whose members do not exclude each other
  bool cut_short = false;   // the search ended with its budget
  // The figures that a slightly slower run would have (whatif::kSlightlySlower), estimated only.
  std::optional<whatif::Figures> slower;
  size_t slower_members = 0;
};

// First combines improvements of tasks: the ranked ones, and those that gain nothing or fail a filter by themselves.
// Together with others these may pass (a peak goes only when both its causes are gone). If the best combination
// contains such an improvement, the improvement joins the ranking at the place of its score. Improvements whose
// estimate turns out not to be sound go from `advices.ranked` to `left_out`, with the reason. Then improvements of
// other kinds join, the best first, each if the combination is worth more with it: by the simulated time, or by the
// weights if the user gave any. Of two that change one lock or one pool, only the better joins. More cores never join:
// they are no change of the program.
base::Result<Combination> best_combination(const Engines& engines, Advices& advices, const AdviceOptions& options);

// The improvements of a combination, in the order of their ranks.
std::vector<whatif::Improvement> improvements_of(const Advices& advices, const Combination& combination);

}  // namespace contrafact::advise
