// The analyses' results as tables; the one place where their columns are declared.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "analysis/headroom.h"
#include "analysis/metric_set.h"
#include "analysis/task_classes.h"
#include "analysis/thread_usage.h"
#include "base/text_sink.h"
#include "model/trace.h"
#include "table/table.h"

namespace contrafact::cli {

extern const table::Schema kMetricsSchema;
extern const table::Schema kHeadroomSchema;
extern const table::Schema kTaskClassesSchema;
extern const table::Schema kUsageSeriesSchema;

table::Table metrics_table(const std::vector<analysis::Metric>& metrics);
table::Table headroom_table(const model::Trace& trace, const std::vector<analysis::PoolHeadroom>& pools);
table::Table task_classes_table(const model::Trace& trace, const std::vector<analysis::TaskClass>& classes);
// Piece by piece: it has a row for each change.
void usage_series_csv(const analysis::ThreadUsage& usage, const base::TextSink& sink);

// The position in the source that a context ends at: the line being executed in its innermost frame of the program's
// own code, with the library that is called there. Without such a frame, it is in a library's or the JDK's code, and
// says so.
table::Cell location_of(const model::Trace& trace, model::ContextId context);
table::Cell location_of(const model::Trace& trace, model::MethodId method);

}  // namespace contrafact::cli
