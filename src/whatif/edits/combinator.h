// convert-to-combinator (Rehype, section 4.1): a task that spawns sub-tasks and waits for them gives its thread back.
// Its part before the first wait runs at its spawn; the sub-tasks stay parallel (footnote 4); what follows a wait runs
// on the thread that completes the sub-task waited for, when it completes. The task completes with its last part.
#pragma once

#include "whatif/edits/placement.h"

namespace contrafact::whatif {

// Errors also where a task waits for nothing: there is nothing to combine.
base::Status convert_to_combinator(const graph::TraceDag& dag, const std::vector<model::TaskId>& tasks,
                                   Placements& placements);

}  // namespace contrafact::whatif
