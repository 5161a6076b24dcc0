// When periodic tasks are due. A scheduled pool hands a periodic task out again when it has run, as a new task, with
// what is left of its period as its delay. Where the pool is short of workers it runs late, and no delay is left. On
// more workers it would still not run before its time, so that must be found from those of its runs, or of its
// siblings' from the same place, that were handed out in time.
//
// Pure; linear in the tasks, but for sorting.
#pragma once

#include <vector>

#include "model/trace.h"

namespace contrafact::whatif {

inline constexpr int64_t kNoDueTime = INT64_MIN;

// By task: when a run at a fixed rate was due, after the trace's beginning, of periodic tasks that were late at least
// once; kNoDueTime for other tasks, and where no run says how long the period is. Empty if there are none at all.
std::vector<int64_t> periodic_due_ns(const model::Trace& trace);

}  // namespace contrafact::whatif
