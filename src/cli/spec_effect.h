// The run with all improvements of the given specs made: for commands that take --apply and show the changed run.
#pragma once

#include <optional>
#include <vector>

#include "advise/advice.h"
#include "analysis/section_facts.h"
#include "improve/spec.h"
#include "model/facts.h"
#include "model/trace.h"
#include "whatif/estimate.h"
#include "whatif/improvement.h"

namespace contrafact::cli {

// By the models that know the improvements.
struct SpecEffect {
  whatif::Figures base;
  advise::Effect effect;
  std::optional<whatif::BaselineCheck> baseline;  // of the simulation
  std::optional<model::Trace> simulated;          // if the trace was asked for, and was simulated

  // REQUIRES: it was asked for.
  const model::Trace& trace() const { return simulated ? *simulated : *effect.estimate.trace; }
};

struct SpecEffectOptions {
  bool simulate = false;  // simulate also changes that an estimate knows
  uint32_t cores = 0;     // of the simulated machine; 0: the recorded one's
  bool trace = false;     // make the changed run's trace
};

// Whether any changes something other than tasks, which only a simulation knows.
bool needs_simulation(const std::vector<whatif::Improvement>& improvements);

// The engines of one recording: an estimator where it has tasks, the facts of sections where they are known.
class SpecEngines {
 public:
  // `sections`: none if it is not known what they touched. The facts must last.
  static base::Result<SpecEngines> create(const model::Facts& facts, std::optional<analysis::SectionFacts> sections);

  improve::SpecTrace specs() const;

  // Uses the engines up: a simulation that makes a trace needs their memory.
  base::Result<SpecEffect> make(const std::vector<whatif::Improvement>& improvements,
                                const SpecEffectOptions& options) &&;

 private:
  SpecEngines(const model::Facts& facts, std::optional<analysis::SectionFacts> sections)
      : facts_(&facts), sections_(std::move(sections)) {}

  const model::Facts* facts_;
  std::optional<analysis::SectionFacts> sections_;
  std::optional<whatif::Estimator> estimator_;
};

}  // namespace contrafact::cli
