// Every table that a command prints, for `contrafact help tables` and docs/reading-tables.md.
#pragma once

#include <vector>

#include "table/table.h"

namespace contrafact::cli {

extern const table::Schema kInfoRunSchema;
extern const table::Schema kInfoEventsSchema;
extern const table::Schema kInfoPoolsSchema;
extern const table::Schema kInfoThreadsSchema;
extern const table::Schema kDoctorSchema;
extern const table::Schema kCompareTwoSchema;
extern const table::Schema kCompareThreeSchema;

// In the order in which a reader meets them.
const std::vector<const table::Schema*>& all_schemas();

}  // namespace contrafact::cli
