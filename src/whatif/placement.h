// A variant of the tasks as the estimates read it: one placement for each task; and the reasons why a task cannot be
// placed.
//
//   at_spawn      (Rehype, section 4.1; equations 1 and 2) The spawner goes on when the task has ended. The worker runs
//                 the tasks before and after it one after the other. Waiting for the task takes no sleep. Handing it
//                 out costs nothing any more (TraceDag::spawn_cost_ns)
//   at_wait       The task runs where its spawner first waits for it: tasks that the spawner hands out before that wait
//                 run at the same time. Only its spawner waits for it, and every wait gets its result. A spawner that
//                 waits earlier for something that only this task sets off waits for itself: propagation finds that
//   continuation  A task that spawns sub-tasks and waits for them gives its thread back. Its part before the first wait
//                 runs at its spawn; the sub-tasks stay parallel (footnote 4). The part after a wait runs on the thread
//                 that completes the sub-task waited for, when it completes. The task completes with its last part
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "graph/propagate.h"
#include "whatif/improvement.h"

namespace contrafact::whatif {

using Placements = std::vector<graph::Placement>;  // by task

// Why `task` cannot run elsewhere than it did, as the end of a sentence ("was never started"); nothing if it can.
// Whether the spawner would then wait for itself is known only after propagation: estimate.h reports that.
std::optional<std::string> why_not_movable(const graph::TraceDag& dag, model::TaskId task);

graph::Placement placement_of(Treatment treatment);

// Sets the placement of all `tasks`. Errors name the first task that cannot be placed so, or that another improvement
// has placed otherwise, and why.
base::Status place(const graph::TraceDag& dag, const std::vector<model::TaskId>& tasks, graph::Placement placement,
                   Placements& placements);

}  // namespace contrafact::whatif
