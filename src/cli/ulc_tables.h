// The tables of `contrafact ulc`.
#pragma once

#include "advise/section_advice.h"
#include "analysis/conflict_places.h"
#include "table/table.h"

namespace contrafact::cli {

// The gains of the improvements of sections, and the error of the unchanged run.
struct SectionsPriced {
  const advise::SectionAdvices& advices;
  const std::optional<whatif::BaselineCheck>& baseline;
};

extern const table::Schema kUlcSitesSchema;
extern const table::Schema kUlcPairsSchema;
extern const table::Schema kUlcConflictsSchema;
extern const table::Schema kLockRemediesSchema;

table::Table ulc_sites_table(const analysis::SectionFacts& facts, const analysis::UlcProfile& profile,
                             const SectionsPriced& priced);
table::Table ulc_conflicts_table(const analysis::SectionFacts& facts,
                                 const std::vector<analysis::ConflictPlace>& places);
table::Table ulc_pairs_table(const analysis::SectionFacts& facts, const analysis::UlcProfile& profile);
// Improvements that gain by any bound; with `all`, all of them.
table::Table lock_remedies_table(const analysis::SectionFacts& facts, const SectionsPriced& priced, bool all);

// "queue_mutex", "mutex 3, mutex 4, and 17 more".
std::string locks_text(const model::Trace& trace, const std::vector<model::LockId>& locks);

}  // namespace contrafact::cli
