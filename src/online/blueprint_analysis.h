// The blueprint profiler (Deferred Methods, section 2): for each method the objects that it allocates and their bytes,
// and how often it calls which other methods. An analysis like any other, written against contrafact/analysis.h; what
// it writes is read by src/blueprint.
#pragma once

#include "contrafact/analysis.h"
#include "online/shared_counts.h"

namespace contrafact::online {

extern const contrafact_analysis kBlueprintAnalysis;

// The same result, but every event goes into counts that all threads share: --coalescing off, and what the benchmark of
// deferred methods is measured against (--processor direct).
extern const contrafact_analysis kBlueprintWithoutCoalescing;
// What its create() made.
SharedCounts& shared_counts(void* blueprint_without_coalescing);

}  // namespace contrafact::online
