#include "whatif/edits/inline_at_wait.h"

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

}  // namespace

base::Status inline_tasks_at_wait(const graph::TraceDag& dag, const std::vector<model::TaskId>& tasks,
                                  Placements& placements) {
  for (const model::TaskId task : tasks) {
    if (why_not_movable(dag, task)) continue;  // `place` says why
    const std::string_view reason = why_not_at_wait(dag.askers[task.index()]);
    if (reason.empty()) continue;
    return base::Error{fmt::format("task {} ({}) {}: it cannot run at its wait", task.value,
                                   dag.trace->method_label(dag.trace->tasks[task.index()].body), reason)};
  }
  return place(dag, tasks, graph::Placement::at_wait, placements);
}

}  // namespace contrafact::whatif
