// The calling-context tree: for each path of calls how often it was taken, and the objects and bytes that were
// allocated in it. What it writes is read by src/contexts.
#pragma once

#include "contrafact/analysis.h"
#include "online/shared_contexts.h"

namespace contrafact::online {

extern const contrafact_analysis kContextAnalysis;

// The same result, but every event goes into counts that all threads share (--coalescing off, --processor direct): what
// deferring is measured against.
extern const contrafact_analysis kContextsWithoutCoalescing;
// What its create() made.
SharedContexts& shared_contexts(void* contexts_without_coalescing);

}  // namespace contrafact::online
