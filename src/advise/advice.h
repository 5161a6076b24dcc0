// The main job in one place: from a trace to ranked improvements of every kind. Candidates come from `improve`, their
// effects from the pricer. Advice is data here; other folders show it.
//
// One call at a time.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "advise/effect.h"
#include "advise/headline.h"
#include "advise/pricer.h"
#include "advise/verdict.h"
#include "analysis/model_violations.h"
#include "base/result.h"
#include "improve/candidate.h"
#include "whatif/screen.h"
#include "whatif/search.h"

namespace contrafact::advise {

using Weights = whatif::SearchWeights;

// Reads "time=1,peak=2". A weight that is left out is 0; only the ratios of weights matter. The error says what is
// wrong.
base::Result<Weights> parse_weights(const std::string& text);

struct AdviceOptions {
  Weights weights;
  bool weights_given = false;  // false: a combination of several kinds is chosen by the run's time alone
  bool filter_time = true;
  bool filter_peak = true;
  bool filter_mean = true;
  bool threads_scarce = true;                                // false: their number is no loss, and no filter holds
  bool filter_gain = true;                                   // leave out improvements that do not improve the score
  double slower_max = 0;                                     // share by which the run may get slower
  uint64_t visits_max = whatif::SearchOptions().visits_max;  // the work of estimates, and of the search
  size_t simulated_max = 20;                                 // improvements of tasks, the best first, that are
                                                             // simulated as well
  size_t combinations_max = whatif::SearchOptions().keep;    // that are simulated, if the search finds as many
  size_t sizes_max = 7;                                      // sizes of one pool, or of the machine, that are simulated
  // True: the best combination's estimated run is restored as a trace. False: only if the check that the combination is
  // sound needs the trace.
  bool restore_best = true;
  std::function<void(size_t done, size_t total)> progress;  // may be empty
};

// `filtered` of an improvement that passes all filters but gains nothing by itself.
inline constexpr std::string_view kNoGain = "no gain";
// A score that is better by less is better by rounding only.
inline constexpr double kScoreTolerance = 1e-3;

struct Advice {
  improve::Candidate candidate;
  Effect effect;
  Verdict verdict = Verdict::no_gain;
  double score = 1;
  std::string filtered;  // why it is left out of the ranking, or would be if no combination needed it
  std::string failed;    // why it cannot be estimated, or not be named in a spec; empty if it can
  std::vector<analysis::Violation> violations;
  int64_t named_lock_waits_ns = 0;  // of its tasks; where acquisitions were recorded, waits are none of these
  std::string curve;                // of sizes: the gains of other sizes, in words
  uint32_t screened = 0;            // of tasks: its position in ScreenedTasks

  const whatif::Improvement& improvement() const { return candidate.improvement; }
  whatif::Target target() const { return whatif::target_of(candidate.improvement.optimisation); }
};

// The improvements of tasks that were estimated by themselves, for the search.
struct ScreenedTasks {
  std::vector<whatif::Improvement> improvements;
  whatif::Batch batch;  // of these
  whatif::Screened found;
};

struct Advices {
  whatif::Figures base;
  std::optional<whatif::BaselineCheck> baseline;  // of the simulation
  Headline headline{model::Origin::estimated, "nothing was simulated"};
  std::vector<Advice> ranked;                     // best first
  std::vector<Advice> left_out;                   // filtered or failed
  std::shared_ptr<const ScreenedTasks> screened;  // null: no task can be changed
  std::vector<improve::Ineligible> ineligible;
  size_t candidates = 0;
  std::string limit;        // the limit of the run, a clause
  std::string branch_hint;  // tasks for which no hoisted branch could be found, and how to record it; empty: none
};

// The engines that `advise` asks. The estimator is null where no task can be changed.
struct Engines {
  const whatif::Estimator* estimator = nullptr;
  const Pricer& pricer;
};

// The effect of the improvements made together, by every engine that knows them; without improvements, the unchanged
// run. `with_trace`: with the trace of the estimated run, if all improvements are estimated. Errors: one of them cannot
// be made.
base::Result<Effect> effect_of(const Engines& engines, std::span<const whatif::Improvement> improvements,
                               bool with_trace = false);

base::Result<Advices> advise(const Engines& engines, const improve::Candidates& tasks, const AdviceOptions& options);

// Whether the simulated figures of an effect are to be read first.
bool reads_simulation(const Advices& advices, const Effect& effect);

// The figures by which an effect is judged: the estimated ones. Where the simulation is to be read first, the duration
// is the simulated one.
whatif::Figures figures_to_read(const Advices& advices, const Effect& effect);

// The gain in time that is to be read first, with its interval.
Gain gain_to_read(const Advices& advices, const Effect& effect);

// Why an effect is a loss by its simulated figures, where these are to be read first; empty: it is no loss.
std::string simulated_loss(const Advices& advices, const Effect& effect, const AdviceOptions& options);

// The verdict on the gain that is read first.
Verdict verdict_to_read(const Advices& advices, const Effect& effect);

// Sets the advice's score, the reason why it is filtered, and its verdict.
void judge(Advice& advice, const Advices& advices, const AdviceOptions& options);

// The order of the list. The greater gain in time comes first, if it is more than repeated runs differ by. Of smaller
// gains, and of gains that are about equal, the better score comes first. With weights that do not favour time, only
// the score counts. An improvement that gains but rests on few observed sections (improve/observation.h), or supposes that tasks
// can be split, comes behind all others that gain.
bool ranks_before(const Advices& advices, const AdviceOptions& options, const Advice& x, const Advice& y);

// Calls `work` for each of 0 to `count`, on as many threads as there are cores.
void for_each_index(size_t count, const std::function<void(size_t done, size_t total)>& progress,
                    const std::function<void(size_t index)>& work);

}  // namespace contrafact::advise
