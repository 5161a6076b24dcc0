// The curves of tasks' grain (advise/grain_advice.h) as a table and as JSON.
#pragma once

#include <vector>

#include "advise/grain_advice.h"
#include "table/json.h"
#include "table/table.h"

namespace contrafact::cli {

extern const table::Schema kGrainCurvesSchema;

// A row for each simulated setting, curve by curve. Without `all`, only the recorded setting, the best one, and the ends
// of the region that is about as good.
table::Table grain_curves_table(const model::Trace& trace, const std::vector<advise::GrainCurve>& curves, bool all);

// docs/json.md, "granularity": `curves`.
table::Json grain_curves_json(const model::Trace& trace, const std::vector<advise::GrainCurve>& curves);

}  // namespace contrafact::cli
