#include "whatif/placement.h"

#include <fmt/format.h>

namespace contrafact::whatif {
namespace {

std::string_view why_not_at_wait(model::Asker asker) {
  switch (asker) {
    case model::Asker::spawner:
      return "";
    case model::Asker::nobody:
      return "is waited for by nobody";
    case model::Asker::others:
      return "is waited for by others than its spawner";
    case model::Asker::stage:
      return "sets off a stage, or is set off by what it depends on";
    case model::Asker::no_result:
      return "was cancelled, or a wait for it ended without its result";
  }
  return "";
}

bool waits(const graph::TraceDag& dag, model::TaskId task) {
  const graph::Body& body = dag.body_of(task);
  for (uint32_t i = body.begin; i < body.end; ++i) {
    if (dag.vertices[i].vertex_kind() == graph::VertexKind::wait) return true;
  }
  return false;
}

// What a movable task lacks for this placement, as the end of a sentence; empty: nothing.
std::string why_not_there(const graph::TraceDag& dag, model::TaskId task, graph::Placement placement) {
  if (placement == graph::Placement::at_wait) {
    const std::string_view reason = why_not_at_wait(dag.askers[task.index()]);
    if (!reason.empty()) return fmt::format("{}: it cannot run at its wait", reason);
  }
  if (placement == graph::Placement::continuation && !waits(dag, task))
    return "waits for no other task: there is nothing to combine";
  return "";
}

}  // namespace

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

graph::Placement placement_of(Treatment treatment) {
  switch (treatment) {
    case Treatment::keep:
    case Treatment::merge:
    case Treatment::split:
      break;
    case Treatment::inline_at_spawn:
      return graph::Placement::at_spawn;
    case Treatment::inline_at_wait:
      return graph::Placement::at_wait;
    case Treatment::combinator:
      return graph::Placement::continuation;
  }
  return graph::Placement::own_thread;
}

base::Status place(const graph::TraceDag& dag, const std::vector<model::TaskId>& tasks, graph::Placement placement,
                   Placements& placements) {
  for (const model::TaskId task : tasks) {
    if (why_not_movable(dag, task)) continue;  // reported below
    const std::string reason = why_not_there(dag, task, placement);
    if (reason.empty()) continue;
    return base::Error{fmt::format("task {} ({}) {}", task.value,
                                   dag.trace->method_label(dag.trace->tasks[task.index()].body), reason)};
  }
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
