// When periodic tasks are due. After a periodic task has run, a scheduled pool hands it out again as a new task, with
// the rest of its period as its delay. Where the pool is short of workers, the task runs late, and no delay is left. On
// more workers it would still not run before it is due. So its due times are found from those of its runs that were
// handed out in time, or from such runs of its siblings from the same place.
//
// Pure; linear in the tasks, but for sorting.
#pragma once

#include <vector>

#include "model/trace.h"

namespace contrafact::whatif {

inline constexpr int64_t kNoDueTime = INT64_MIN;

// By task: when a run at a fixed rate was due after the trace's beginning, if the task is periodic and was late at
// least once. kNoDueTime for other tasks, and where no run shows the period. Empty if no task has a due time.
std::vector<int64_t> periodic_due_ns(const model::Trace& trace);

}  // namespace contrafact::whatif
