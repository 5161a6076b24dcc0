// The calling-context tree: for each path of calls how often it was taken, and the objects and bytes that were
// allocated in it. What it writes is read by src/contexts.
#pragma once

#include "contrafact/analysis.h"

namespace contrafact::online {

extern const contrafact_analysis kContextAnalysis;

}  // namespace contrafact::online
