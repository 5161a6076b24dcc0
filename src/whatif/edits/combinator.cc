#include "whatif/edits/combinator.h"

#include <fmt/format.h>

namespace contrafact::whatif {
namespace {

bool waits(const graph::TraceDag& dag, model::TaskId task) {
  const graph::Body& body = dag.body_of(task);
  for (uint32_t i = body.begin; i < body.end; ++i) {
    if (dag.vertices[i].vertex_kind() == graph::VertexKind::wait) return true;
  }
  return false;
}

}  // namespace

base::Status convert_to_combinator(const graph::TraceDag& dag, const std::vector<model::TaskId>& tasks,
                                   Placements& placements) {
  for (model::TaskId task : tasks) {
    if (why_not_movable(dag, task) || waits(dag, task)) continue;
    return base::Error{fmt::format("task {} ({}) waits for no other task: there is nothing to combine", task.value,
                                   dag.trace->method_label(dag.trace->tasks[task.index()].body))};
  }
  return place(dag, tasks, graph::Placement::continuation, placements);
}

}  // namespace contrafact::whatif
