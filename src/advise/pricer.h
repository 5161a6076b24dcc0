// Prices improvements: joins the engines of `whatif`, of which only the simulation knows every kind of change.
//
// Immutable after construction; may be shared between threads; the arguments must outlive it. Cost of a simulation: one
// pass over the events for each draw.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "advise/effect.h"
#include "advise/missed_waits.h"
#include "analysis/contended_places.h"
#include "analysis/ulc.h"
#include "model/facts.h"
#include "whatif/simulate.h"

namespace contrafact::advise {

struct PricerOptions {
  bool simulate = true;
  uint32_t cores = 0;  // 0: the recorded machine's
  // Simulations with drawn hand-overs, beside the typical one; 0: no interval of draws. Traces of one kind of hand-over
  // are simulated once.
  uint32_t draws = 5;
  // Of the unchanged run and of changed ones. The error of the simulation is still that for the recorded run.
  whatif::LeftOut left_out = {};
};

class Pricer {
 public:
  // `sections` null: the trace has none, or it is not known what they touched.
  Pricer(const model::Facts& facts, const analysis::SectionFacts* sections, const PricerOptions& options);
  // The facts must last.
  Pricer(const model::Trace& trace, const analysis::SectionFacts* sections, const PricerOptions& options) = delete;
  ~Pricer();

  // The unchanged run against the recorded one; none: nothing was simulated, or it cannot be.
  const std::optional<whatif::BaselineCheck>& baseline() const { return baseline_; }
  const model::Facts& facts() const { return facts_; }
  const model::Trace& trace() const { return trace_; }
  // Null without them.
  const analysis::SectionFacts* sections() const { return sections_; }
  // Of a JVM's run: the place, if any, at which threads waited for a lock that no change makes shorter to hold
  // (holder_may_wait).
  const std::optional<analysis::ContendedPlace>& contended() const { return contended_; }
  const model::HandOverCosts& hand_over_costs() const { return facts_.hand_over_costs(); }
  bool simulates() const { return baseline_.has_value(); }
  uint32_t cores() const { return options_.cores; }
  const whatif::LeftOut& left_out() const { return options_.left_out; }
  const whatif::SimProgram& program() const { return simulator_.program(); }

  // The improvements made together. Errors: they exclude each other, or one cannot be made.
  base::Result<whatif::Variant> variant(std::span<const whatif::Improvement> improvements) const;
  // REQUIRES: simulates().
  base::Result<SimulatedEffect> simulate(std::span<const whatif::Improvement> improvements) const;
  // Of the program with the sections of `ordered` locks in this order, and no other (whatif::Variant).
  base::Result<SimulatedEffect> simulate_order(std::shared_ptr<const graph::SectionOrder> order,
                                               std::vector<bool> ordered) const;
  // REQUIRES: sections().
  base::Result<whatif::SectionGains> section_gains(std::span<const whatif::Improvement> improvements) const;

 private:
  // The unchanged run. Its duration is 0 where it came to no end.
  struct Base {
    WaitingRun run;
    int64_t missed_ns = 0;
  };

  base::Result<whatif::BaselineCheck> check_baseline() const;
  base::Result<SimulatedEffect> simulate(const whatif::Variant& made) const;
  base::Result<whatif::Simulation> run(const whatif::Variant& variant, const whatif::SectionPlan* plan,
                                       uint64_t seed) const;
  double doubt(const whatif::Simulation& simulation) const;
  double vm_doubt(const whatif::Simulation& simulation) const;
  double spared_share(const whatif::Simulation& simulation) const;
  double between_cores(const whatif::Variant& variant) const;
  double more(const whatif::Variant& variant) const;
  // Takes back the part of the gain that one lock rules out: the waits for it get no shorter.
  void limit_by_lock(SimulatedEffect& effect) const;

  const model::Facts& facts_;
  const model::Trace& trace_;
  const analysis::SectionFacts* sections_;
  const PricerOptions options_;
  const whatif::Simulator simulator_;
  std::unique_ptr<const whatif::SectionBounds> bounds_;
  std::optional<whatif::BaselineCheck> baseline_;
  std::optional<analysis::ContendedPlace> contended_;
  std::vector<Base> base_;   // by draw
  double missed_ = 0;        // share of the recorded duration, the median of the draws
  double base_threads_ = 0;  // threads that computed in it at a time, on average
  double fleeting_ = 0;      // share of the computing due to the moment: warm-up, and other programs' use of the cores
};

// The interval of the draws, widened by the largest of the error of the unchanged run, the doubt about the effect, and
// the usual error of such gains. The gain includes missed waiting (missed_waits.h).
Gain gain_of(const whatif::BaselineCheck& baseline, const SimulatedEffect& effect);

}  // namespace contrafact::advise
