// The blueprint profiler (Deferred Methods, section 2): for each method the objects that it allocates and their bytes,
// and whom it calls how often. An analysis like any other, written against contrafact/analysis.h; what it writes is
// read by src/blueprint.
#pragma once

#include "contrafact/analysis.h"

namespace contrafact::online {

extern const contrafact_analysis kBlueprintAnalysis;

}  // namespace contrafact::online
