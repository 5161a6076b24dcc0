// Which blocks are for a lock, rather than for something that another thread must bring about. Pure.
#pragma once

#include "model/trace.h"

namespace contrafact::model {

// True if a park at `context` is for one of java.util.concurrent's locks, as its innermost frames show. False where the
// recording does not hold them.
bool is_lock_call(const Trace& trace, ContextId context);

}  // namespace contrafact::model
