// The main job in one place: from a trace to ranked improvements and the best combination of them. Candidates come from
// `analysis`, their effects from `whatif`; this file only joins the two, and neither knows the other.
//
// Figures are estimated (fixed assignment) unless a name says simulated (re-dispatch). One call at a time.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "analysis/candidates.h"
#include "analysis/model_violations.h"
#include "base/result.h"
#include "cli/headline.h"
#include "whatif/estimate.h"
#include "whatif/search.h"
#include "whatif/simulate.h"

namespace contrafact::cli {

using Weights = whatif::SearchWeights;

// "time=1,peak=2": those left out are 0; only their ratios matter. The error says what is wrong.
base::Result<Weights> parse_weights(const std::string& text);

struct AdviceOptions {
  Weights weights;
  uint32_t cores = 0;  // 0: as recorded
  bool filter_time = true;
  bool filter_peak = true;
  bool filter_mean = true;
  bool threads_scarce = true;                                // false: their number is no loss, and no filter holds
  bool filter_gain = true;                                   // leave out what does not improve the score
  double slower_max = 0;                                     // share by which the run may get slower
  uint64_t visits_max = whatif::SearchOptions().visits_max;  // the work of estimates, and of the search
  size_t simulated_max = 20;                                 // improvements, the best first, that are simulated as well
  size_t combinations_max = whatif::SearchOptions().keep;    // that are, if the search finds as many
  std::function<void(size_t done, size_t total)> progress;   // may be empty
};

struct SimulatedEffect {
  int64_t duration_ns = 0;
  bool stuck = false;  // the simulated program does not come to its end
  std::string stuck_why;
};

// What the self-check of the simulation leaves open: it was off by this much where the truth was known.
struct SimulatedInterval {
  double low_ns = 0, high_ns = 0;
};
SimulatedInterval simulated_interval(const whatif::BaselineCheck& baseline, const SimulatedEffect& effect);

// `filtered` of an improvement that passes all filters but gains nothing by itself.
inline constexpr std::string_view kNoGain = "no gain";
// A score that is better by less is rounding.
inline constexpr double kScoreTolerance = 1e-3;

struct Advice {
  whatif::Improvement improvement;
  whatif::Estimate estimate;
  double score = 1;
  std::string filtered;  // why it is left out of the ranking, or would be, were it not for the combination's sake
  std::string failed;    // why it cannot be estimated, or not be named in a spec; empty if it can
  std::optional<SimulatedEffect> simulated;
  std::vector<analysis::Violation> violations;
  std::string path, other_path;  // of a hoisted branch, in words
};

struct Advices {
  whatif::Figures base;
  std::optional<whatif::BaselineCheck> baseline;  // of the simulation
  Headline headline{model::Origin::estimated, "nothing was simulated"};
  std::vector<Advice> ranked;    // best first
  std::vector<Advice> left_out;  // filtered or failed
  std::vector<analysis::Ineligible> ineligible;
  size_t candidates = 0;
  std::string branch_hint;  // what no hoisted branch could be found for, and how to see it; empty: nothing
};

// `simulator` null: nothing is simulated.
base::Result<Advices> advise(const model::Trace& trace, const whatif::Estimator& estimator,
                             const whatif::Simulator* simulator, const AdviceOptions& options);

// The improvements made together, by the re-dispatch model.
base::Result<SimulatedEffect> simulate_effect(const model::Trace& trace, const whatif::Simulator& simulator,
                                              std::span<const whatif::Improvement> improvements, uint32_t cores);

// Whether the simulated figures of an effect are those to be read first.
bool reads_simulation(const Advices& advices, const std::optional<SimulatedEffect>& effect);

// The figures by which an effect is judged: estimated ones, but for the duration where the simulated one is to be read.
whatif::Figures figures_to_read(const Advices& advices, whatif::Figures estimated,
                                const std::optional<SimulatedEffect>& simulated);

// Why an effect is a loss by the figures that are to be read first, where those are simulated; empty: it is not.
std::string simulated_loss(const Advices& advices, const SimulatedEffect& effect, const AdviceOptions& options);

// (base - value) / base; 0 where base is 0.
double gain(double base, double value);

}  // namespace contrafact::cli
