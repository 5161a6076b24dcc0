#include "whatif/edits/inline_task.h"

namespace contrafact::whatif {

base::Status inline_tasks(const graph::TraceDag& dag, const std::vector<model::TaskId>& tasks, Placements& placements) {
  return place(dag, tasks, graph::Placement::at_spawn, placements);
}

}  // namespace contrafact::whatif
