// The translator's reasons in the trace's words, and both in those of the facts (docs/format.md). Pure.
#pragma once

#include "format/access_set.h"
#include "translate/thread.h"

namespace contrafact::agent_native {

// Why a set lacks something, in the trace's words.
format::SetGap gap_of(translate::Reason reason);

// The last part of a fact's name: sets.segments.NAME, sets.left.NAME.
const char* name_of(format::SetGap gap);
const char* name_of(translate::Reason reason);

}  // namespace contrafact::agent_native
