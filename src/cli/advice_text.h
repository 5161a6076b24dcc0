// Advice as a person reads it, as JSON, and as spec files.
#pragma once

#include <string>

#include "analysis/starvation.h"
#include "cli/advice.h"
#include "cli/combination.h"
#include "cli/command.h"
#include "table/render.h"

namespace contrafact::cli {

// All that `advise` found out. `trace` outlives it.
struct AdviceDocument {
  std::string path;
  const model::Trace* trace = nullptr;
  Weights weights;
  Advices advices;
  Combination best;
  analysis::Starvations starvations;
  size_t shown = 20;
  uint32_t cores = 0;          // of the simulated machine; 0: as recorded
  bool threads_scarce = true;  // false: most are virtual, and only time counts
  bool left_out = false;
  bool all = false;  // print also what changes nothing measurable by itself
};

std::string advice_text(const AdviceDocument& document, const table::TextStyle& style);
std::string advice_json(const AdviceDocument& document);

// NN-OPTIMISATION.json for each ranked improvement and best.json for the combination, into `folder`, which is made if
// it is not there and there is something to write, but not its parents. Older specs in it are replaced only where the
// names are the same. What is written can be applied to the trace (`contrafact estimate --apply`): what cannot be is
// named on standard error, as is what was written.
base::Status write_specs(const std::string& folder, const whatif::Estimator& estimator, const AdviceDocument& document,
                         const Session& session);

}  // namespace contrafact::cli
