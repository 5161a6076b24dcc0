// The lock profile's tables.
#pragma once

#include "table/table.h"

namespace contrafact::cli {

extern const table::Schema kLocksSchema;
extern const table::Schema kLockSitesSchema;
extern const table::Schema kLockWaitsSchema;

}  // namespace contrafact::cli
