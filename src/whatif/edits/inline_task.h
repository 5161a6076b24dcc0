// convert-to-inline (Rehype, section 4.1; equations 1 and 2): the tasks run at their spawn, on the spawning thread.
// The spawner goes on when the task has ended; the worker's tasks before and after it follow each other; waiting for it
// takes no sleep. Handing it out costs nothing any more (TraceDag::spawn_cost_ns).
#pragma once

#include "whatif/edits/placement.h"

namespace contrafact::whatif {

base::Status inline_tasks(const graph::TraceDag& dag, const std::vector<model::TaskId>& tasks, Placements& placements);

}  // namespace contrafact::whatif
