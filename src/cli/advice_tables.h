// Advice as tables.
#pragma once

#include <span>

#include "advise/ranking.h"
#include "table/table.h"

namespace contrafact::cli {

extern const table::Schema kImprovementsSchema;
extern const table::Schema kLeftOutSchema;
extern const table::Schema kEffectSchema;

using advise::AdviceDocument;

// The ranked improvements, numbered from 1; or those of them whose indexes are given.
table::Table improvements_table(const AdviceDocument& document);
table::Table improvements_table(const AdviceDocument& document, std::span<const size_t> indexes);

// Improvements that were estimated but not ranked, and sets of tasks without a candidate; with the reasons.
table::Table left_out_table(const AdviceDocument& document);

// The table of a variant's effect: a row for each figure, those to read first in front. Without `baseline` nothing was
// simulated.
table::Table effect_table(const whatif::Figures& base, const std::optional<whatif::BaselineCheck>& baseline,
                          const advise::Effect& effect, bool simulated_first);

// Where the improvement of this index is made: "shop.Main.main(Main.java:9)", "pool web"; of inline-at-wait both
// places.
std::string place_text_of(const AdviceDocument& document, size_t index);
std::string place_text_of(const AdviceDocument& document, const advise::Advice& advice);
table::Cell place_cell_of(const AdviceDocument& document, const advise::Advice& advice);

// Where the tasks of inline-at-wait run, as text; empty of all others.
std::string runs_at_text(const AdviceDocument& document, size_t index);

// "split-lock into 8", "pool-size 8 -> 12".
std::string what_of(const advise::Advice& advice);

// The kinds of changes of a target, "pool-size" or "drop-lock, split-lock or make-atomic", for a table's legend.
// `with_legends`: with the further part of their titles, "split-lock (into how many)".
std::string kinds_text(whatif::Target target, bool with_legends = false);

// Why there is nothing to advise.
std::string no_advice_reason(const AdviceDocument& document);

// Whether the two models agree on a duration: "agree", "differ", "stuck", or "-" where one is missing.
std::string agreement(const advise::Advices& advices, const advise::Advice& advice);

}  // namespace contrafact::cli
