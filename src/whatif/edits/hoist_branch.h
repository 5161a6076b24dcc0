// hoist-branch (Rehype, section 4.1): of the tasks that one place spawns, those that take one branch run at their
// spawn; the test moves in front of the spawn. To the DAG it is convert-to-inline of the subset. `branch` has to be a
// part of the place's tasks: all of them would be convert-to-inline itself.
#pragma once

#include "whatif/edits/placement.h"

namespace contrafact::whatif {

// `context_tasks`: how many tasks the place spawns in all.
base::Status hoist_branch(const graph::TraceDag& dag, const std::vector<model::TaskId>& branch, uint32_t context_tasks,
                          Placements& placements);

}  // namespace contrafact::whatif
