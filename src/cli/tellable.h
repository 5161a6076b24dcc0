// What of an estimated gain can be told from the differences between runs of one and the same program, and what to do,
// in one sentence. Pure functions.
#pragma once

#include <string>
#include <vector>

#include "cli/advice_text.h"

namespace contrafact::cli {

// Gains below these, as shares of the recorded run's figure, are not told from noise: repeated runs of one program
// differ by as much. Five recordings of the server of `./dev demo` had peaks of 24 and 25 threads and means from 11.5
// to 12.2.
inline constexpr double kTellableTime = 0.02;
inline constexpr double kTellableThreads = 0.05;

// The time gained by the model that is to be read first (estimated where nothing was simulated), as a share.
double time_gain(const AdviceDocument& document, const whatif::Estimate& estimate,
                 const std::optional<SimulatedEffect>& simulated);

// Whether the improvement by itself gains time, peak or mean by more than noise.
bool is_tellable(const AdviceDocument& document, const Advice& advice);

// How the ranking is shown: indexes into Advices::ranked.
struct Shown {
  std::vector<size_t> best;  // of the best combination
  std::vector<size_t>
      others;             // worth doing by themselves: at most `document.shown`; with `document.all`, all there are
  size_t cut = 0;         // tellable ones beyond that number
  size_t untellable = 0;  // those that change nothing measurable by themselves
};
Shown shown_of(const AdviceDocument& document);

// Ranks as they are shown, without holes: the best combination's first, then what is worth doing by itself, then the
// rest; in each the best first.
void rank_as_shown(AdviceDocument& document);

// What to do and what it gains. REQUIRES: something is ranked.
std::string summary_sentence(const AdviceDocument& document);

}  // namespace contrafact::cli
