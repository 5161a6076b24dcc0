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

// By task: when a run at a fixed rate was due, counted from the trace's beginning. Only periodic tasks that were late
// at least once have such times. kNoDueTime for other tasks, and where no run shows how long the period is. Empty if no
// task has a due time.
std::vector<int64_t> periodic_due_ns(const model::Trace& trace);

}  // namespace contrafact::whatif
