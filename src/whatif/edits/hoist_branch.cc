#include "whatif/edits/hoist_branch.h"

namespace contrafact::whatif {

base::Status hoist_branch(const graph::TraceDag& dag, const std::vector<model::TaskId>& branch, uint32_t context_tasks,
                          Placements& placements) {
  if (branch.empty()) return base::Error{"no task takes the branch"};
  if (branch.size() >= context_tasks) {
    return base::Error{"every task of the place takes the branch: convert-to-inline does the same"};
  }
  return place(dag, branch, graph::Placement::at_spawn, placements);
}

}  // namespace contrafact::whatif
