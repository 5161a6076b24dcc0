#include "cli/spec_effect.h"

#include <algorithm>

#include "advise/pricer.h"
#include "whatif/simulate.h"

namespace contrafact::cli {

bool needs_simulation(const std::vector<whatif::Improvement>& improvements) {
  return std::ranges::any_of(improvements, [](const whatif::Improvement& improvement) {
    return whatif::target_of(improvement.optimisation) != whatif::Target::tasks;
  });
}

base::Result<SpecEngines> SpecEngines::create(const model::Facts& facts,
                                              std::optional<analysis::SectionFacts> sections) {
  SpecEngines engines(facts, std::move(sections));
  if (facts.trace().tasks.empty()) return engines;
  base::Result<whatif::Estimator> estimator = whatif::Estimator::create(facts);
  if (!estimator) return estimator.error();
  engines.estimator_ = *std::move(estimator);
  return engines;
}

improve::SpecTrace SpecEngines::specs() const {
  return {.trace = facts_->trace(),
          .dag = estimator_ ? &estimator_->dag() : nullptr,
          .sections = sections_ ? &*sections_ : nullptr};
}

base::Result<SpecEffect> SpecEngines::make(const std::vector<whatif::Improvement>& improvements,
                                           const SpecEffectOptions& options) && {
  const model::Trace& trace = facts_->trace();
  const bool simulates = options.simulate || needs_simulation(improvements);
  std::optional<advise::Pricer> pricer;
  pricer.emplace(*facts_, sections_ ? &*sections_ : nullptr,
                 advise::PricerOptions{.simulate = simulates, .cores = options.cores});
  if (simulates && !pricer->simulates()) return base::Error{"the run cannot be simulated"};
  const advise::Engines engines{estimator_ ? &*estimator_ : nullptr, *pricer};
  base::Result<advise::Effect> effect = advise::effect_of(engines, improvements, !simulates);
  if (!effect) return effect.error();
  SpecEffect made{.effect = *std::move(effect)};
  made.base.duration_ns = trace.end_ns() - trace.begin_ns();
  if (made.effect.estimated) made.base = estimator_->base();
  if (!simulates) return made;
  if (made.effect.simulated->stuck)
    return base::Error{"the simulated program hangs: " + made.effect.simulated->stuck_why};
  made.baseline = pricer->baseline();
  if (!options.trace) return made;
  const base::Result<whatif::Variant> variant = pricer->variant(improvements);
  if (!variant) return variant.error();
  pricer.reset();
  estimator_.reset();
  sections_.reset();
  base::Result<whatif::Simulation> simulation = whatif::simulate(*facts_, *variant, {.cores = options.cores});
  if (!simulation) return simulation.error();
  made.simulated = std::move(simulation->trace);
  made.simulated->facts.push_back(whatif::baseline_fact(*made.baseline));
  return made;
}

}  // namespace contrafact::cli
