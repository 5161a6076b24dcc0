// inline-at-wait: the tasks run where their spawner first waits for them, on its thread; what it hands out before that
// runs meanwhile. Nobody hands them out, and waiting for them takes no sleep.
//
// Beyond what convert-to-inline asks of a task: its spawner waits for it, nobody else does, and every wait gets its
// result. What the spawner waits for before that and only such a task sets off makes it wait for itself, which
// propagation finds.
#pragma once

#include "whatif/edits/placement.h"

namespace contrafact::whatif {

base::Status inline_tasks_at_wait(const graph::TraceDag& dag, const std::vector<model::TaskId>& tasks,
                                  Placements& placements);

}  // namespace contrafact::whatif
