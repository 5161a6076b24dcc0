// The tables and sentences of `contrafact granularity`.
#pragma once

#include <string>

#include "analysis/granularity.h"
#include "table/table.h"

namespace contrafact::cli {

extern const table::Schema kGranularitySchema;
extern const table::Schema kGranularityActivitySchema;
extern const table::Schema kGranularityIdleSchema;
extern const table::Schema kGranularityOutliersSchema;

// Sizes, costs and verdicts; what the machine does meanwhile; why cores are idle then. A row for each class, in the same order.
table::Table granularity_table(const model::Trace& trace, const analysis::Granularity& granularity);
table::Table granularity_activity_table(const model::Trace& trace, const analysis::Granularity& granularity);
table::Table granularity_idle_table(const model::Trace& trace, const analysis::Granularity& granularity);
table::Table granularity_outliers_table(const model::Trace& trace, const analysis::Granularity& granularity);

// Where the class's tasks are made and handed out, in words that name the method.
std::string contexts_text(const model::Trace& trace, const analysis::ClassGranularity& c);
// "Job.run (Job.java:7), handed out at Main.main (Main.java:31)"
std::string class_label(const model::Trace& trace, const analysis::ClassGranularity& c);
// How often in 100 ms; 0 of no time.
double in_100_ms(uint64_t count, int64_t time_ns);

}  // namespace contrafact::cli
