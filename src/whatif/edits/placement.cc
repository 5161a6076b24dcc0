#include "whatif/edits/placement.h"

#include <fmt/format.h>

namespace contrafact::whatif {

std::optional<std::string> why_not_movable(const graph::TraceDag& dag, model::TaskId task) {
  const model::Trace& trace = *dag.trace;
  if (task.index() >= trace.tasks.size()) return "is not in the trace";
  const model::TaskRow& row = trace.tasks[task.index()];
  if (row.dropped && !row.start.valid()) return "was dropped before it ran";
  if (!row.start.valid()) return "was never started";
  if (!row.spawn.valid()) return "was not spawned: it runs on the thread that completed its source already";
  if (row.kind == model::TaskKind::thread) return "is the run of a thread";
  if (row.delay_us > 0) return "is delayed or periodic";
  if (row.truncated) return "is not wholly in the recording";
  if (trace.thread_of(row.spawn) == trace.thread_of(row.start) && row.spawn > row.start) return "runs before its spawn";
  return std::nullopt;
}

graph::Placement placement_of(Optimisation optimisation) {
  switch (optimisation) {
    case Optimisation::inline_at_wait:
      return graph::Placement::at_wait;
    case Optimisation::convert_to_combinator:
      return graph::Placement::continuation;
    default:
      return graph::Placement::at_spawn;
  }
}

base::Status place(const graph::TraceDag& dag, const std::vector<model::TaskId>& tasks, graph::Placement placement,
                   Placements& placements) {
  placements.resize(dag.task_count(), graph::Placement::own_thread);
  for (model::TaskId task : tasks) {
    std::optional<std::string> reason = why_not_movable(dag, task);
    const bool known = task.index() < dag.task_count();
    if (!reason && placements[task.index()] != graph::Placement::own_thread && placements[task.index()] != placement) {
      reason = "is changed otherwise by another improvement";
    }
    if (reason) {
      const std::string label = known ? dag.trace->method_label(dag.trace->tasks[task.index()].body) : "?";
      return base::Error{fmt::format("task {} ({}) {}", task.value, label, *reason)};
    }
    placements[task.index()] = placement;
  }
  return {};
}

}  // namespace contrafact::whatif
