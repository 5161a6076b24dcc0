#include "improve/task_proposals.h"

#include <algorithm>

namespace contrafact::improve {

model::MethodId TaskProposals::body_of(const std::vector<model::TaskId>& tasks) const {
  const model::MethodId body = trace_.tasks[tasks[0].index()].body;
  const bool same =
      std::all_of(tasks.begin(), tasks.end(), [&](model::TaskId t) { return trace_.tasks[t.index()].body == body; });
  return same ? body : model::MethodId();
}

Candidate& TaskProposals::propose(const Kind* kind, const TaskSet& set, std::vector<model::TaskId> tasks) {
  Candidate& candidate = result_.candidates.emplace_back();
  candidate.improvement = {.optimisation = kind,
                           .spawn_context = set.context,
                           .body = set.bodies_differ ? model::MethodId() : set.body,
                           .tasks = std::move(tasks),
                           .context_tasks = static_cast<uint32_t>(set.tasks.size())};
  if (!set.pools_differ) candidate.pool = set.pool;
  candidate.set = set.number;
  return candidate;
}

void TaskProposals::reject(const Kind* kind, const TaskSet& set, std::string reason, uint64_t tasks) {
  result_.ineligible.push_back({.optimisation = kind,
                                .context = set.context,
                                .body = set.bodies_differ ? model::MethodId() : set.body,
                                .reason = std::move(reason),
                                .tasks = tasks});
}

}  // namespace contrafact::improve
