// What the edits have in common: a variant as one placement for each task, and the reasons why a task cannot be moved.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "graph/propagate.h"
#include "whatif/improvement.h"

namespace contrafact::whatif {

using Placements = std::vector<graph::Placement>;  // by task

// Why `task` cannot run at its spawn, as the end of a sentence ("was never started"); nothing if it can. Whether the
// spawner would then wait for itself is known only after propagation: estimate.h reports that.
std::optional<std::string> why_not_movable(const graph::TraceDag& dag, model::TaskId task);

// How the tasks of an improvement are placed. REQUIRES: it is one of tasks.
graph::Placement placement_of(Optimisation optimisation);

// Sets the placement of all `tasks`. Errors name the first task that cannot be moved, or that another edit has moved
// otherwise, and why.
base::Status place(const graph::TraceDag& dag, const std::vector<model::TaskId>& tasks, graph::Placement placement,
                   Placements& placements);

}  // namespace contrafact::whatif
