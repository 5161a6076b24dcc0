// Advice as tables.
#pragma once

#include <span>

#include "cli/advice.h"
#include "table/table.h"

namespace contrafact::cli {

extern const table::Schema kImprovementsSchema;
extern const table::Schema kLeftOutSchema;
extern const table::Schema kEffectSchema;

// The ranked improvements, numbered from 1; or those of them whose indexes are given.
table::Table improvements_table(const model::Trace& trace, const Advices& advices);
table::Table improvements_table(const model::Trace& trace, const Advices& advices, std::span<const size_t> indexes);

// Those that were estimated but not ranked, and sets of tasks without a candidate; with the reasons.
table::Table left_out_table(const model::Trace& trace, const Advices& advices);

// What one variant changes: a row for each figure. `simulated` may be null.
struct Effect {
  whatif::Figures base, after;
  int64_t duration_low_ns = 0, duration_high_ns = 0;
  const whatif::BaselineCheck* baseline = nullptr;
  const SimulatedEffect* simulated = nullptr;
};
table::Table effect_table(const Effect& effect);

// Why there is nothing to advise.
std::string no_advice_reason(const model::Trace& trace, const Advices& advices);

// Whether the two models say the same of a duration: "agree", "differ", "stuck", or "-" where one is missing.
std::string agreement(const Advices& advices, const Advice& advice);

}  // namespace contrafact::cli
