// The best set of improvements to make together.
#pragma once

#include <vector>

#include "cli/advice.h"

namespace contrafact::cli {

struct Combination {
  std::vector<size_t> members;  // indexes into Advices::ranked, in ascending order; empty: nothing is worth doing
  whatif::Estimate estimate;    // with its trace
  double score = 1;
  std::optional<SimulatedEffect> simulated;
  uint64_t estimated = 0;   // combinations that were estimated
  bool exhaustive = false;  // all that do not exclude each other
  bool cut_short = false;   // the search ended with its budget
  // What a slightly slower run would gain besides (whatif::kSlightlySlower), estimated only.
  std::optional<whatif::Figures> slower;
  size_t slower_members = 0;
};

// Considers what is ranked, and what gains nothing or fails a filter by itself: together with others it may pass (a
// peak goes only when both its causes are gone). Those of the latter that the best combination takes join the ranking,
// where their scores put them. Improvements whose estimate turns out not to be sound go from `advices.ranked` to
// `left_out`, with the reason. `simulator` null: nothing is simulated.
base::Result<Combination> best_combination(const model::Trace& trace, const whatif::Estimator& estimator,
                                           const whatif::Simulator* simulator, Advices& advices,
                                           const AdviceOptions& options);

// The improvements of a combination, in the order of their ranks.
std::vector<whatif::Improvement> improvements_of(const Advices& advices, const Combination& combination);

}  // namespace contrafact::cli
