// From a native trace to priced remedies for its locks. Candidates come from `analysis`, their effects from `whatif`;
// this file only joins the two, and neither knows the other.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "analysis/lock_remedies.h"
#include "whatif/lock_estimate.h"
#include "whatif/lock_spec.h"

namespace contrafact::cli {

struct LockAdvice {
  analysis::LockRemedy remedy;
  whatif::LockImprovement improvement;
  whatif::LockEstimate estimate;
  // The simulated gain where there is one, else that of the recorded order.
  double gain() const { return estimate.simulated ? estimate.free_order : estimate.recorded_order; }
  double gain_low() const { return estimate.simulated ? estimate.free_order_low : estimate.recorded_order; }
  double gain_high() const { return estimate.simulated ? estimate.free_order_high : estimate.recorded_order; }
};

struct LockAdviceOptions {
  whatif::LockEstimateOptions estimate;
  // Only these improvements, and all of them together; empty: whatever helps.
  std::vector<whatif::LockSelector> apply;
  size_t priced_max = 64;                                   // of the candidates those whose sections waited longest
  std::function<void(size_t done, size_t total)> progress;  // may be empty
};

struct LockAdvices {
  // The greatest gain first, those above their bound behind the others that gain; of those that change the same lock
  // and whose intervals meet, or miss each other by less than a point, the simpler change. Those that gain nothing too.
  std::vector<LockAdvice> ranked;
  // The best for each lock made together, or all that were asked for: indexes into `ranked`, at least two; empty if
  // there are not so many.
  std::vector<size_t> together;
  whatif::LockEstimate together_estimate;
  std::vector<analysis::NoRemedy> refused;
  size_t not_priced = 0;
  whatif::LockBaseline baseline;
};

// Errors: one of `options.apply` fits no remedy of this recording.
base::Result<LockAdvices> advise_locks(const analysis::SectionFacts& facts, const LockAdviceOptions& options);

// Whether it gains anything by any bound.
bool gains(const LockAdvice& advice);
// What to think of a gain: "a gain"; "within its error" if it is no greater than the simulation's error on the
// unchanged run, or than the spread of its own runs; "above its bound" if it exceeds what conflicts allow by more than
// that error and a point, and threads waited for other locks so long that the excess may come from those being taken in
// another order; "no gain"; "a loss"; "baseline off" if the simulation is not to be trusted with this recording; "not
// simulated".
std::string_view verdict_of(const whatif::LockEstimate& estimate, const whatif::LockBaseline& baseline);
// It is worth making: a gain, or one in the recorded order where only the change could not be simulated.
bool helps(const LockAdvice& advice, const whatif::LockBaseline& baseline);

// Why the trace cannot tell what locks are needed: it is not of a native program, or has no read and write sets. Empty:
// it can.
std::string no_sets_reason(const model::Trace& trace);

// A gain below this is none: 0.05 % of the run.
inline constexpr double kLockGainMin = 0.0005;

}  // namespace contrafact::cli
