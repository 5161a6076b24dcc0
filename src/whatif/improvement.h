// Improvement: one optimisation applied to one set of tasks, as a person would make it in the source ("inline every
// task spawned here"). Plain data, safe to copy between threads. Candidates are found elsewhere and handed to this
// folder.
#pragma once

#include <string>
#include <vector>

#include "model/trace.h"

namespace contrafact::whatif {

enum class Optimisation : uint8_t {
  convert_to_inline,      // the body runs at the spawn, on the spawning thread
  hoist_branch,           // the same for the subset of tasks that take one branch
  convert_to_combinator,  // a task that spawns sub-tasks and waits for them becomes a chain of stages
};

// What tells the tasks of a hoisted subset from the other tasks of the same context: their execution paths.
struct PathCondition {
  enum class Kind : uint8_t { enters_method, spawns_at, waits_at } kind = Kind::enters_method;
  model::MethodId method;    // for enters_method
  model::ContextId context;  // for spawns_at and waits_at
  bool holds = true;         // false: the tasks that do not
};

struct Improvement {
  Optimisation optimisation = Optimisation::convert_to_inline;
  model::ContextId spawn_context;     // the dynamic context that all `tasks` share
  model::MethodId body;               // of the tasks; none if they differ
  std::vector<model::TaskId> tasks;   // sorted, unique: those that change
  uint32_t context_tasks = 0;         // all tasks of the context; more than `tasks` when a branch is hoisted
  std::vector<PathCondition> path;    // hoist_branch only
  std::vector<std::string> warnings;  // signs that the task model does not hold for these tasks
};

constexpr std::string_view name_of(Optimisation optimisation) {
  switch (optimisation) {
    case Optimisation::convert_to_inline:
      return "convert-to-inline";
    case Optimisation::hoist_branch:
      return "hoist-branch";
    case Optimisation::convert_to_combinator:
      return "convert-to-combinator";
  }
  return "?";
}

}  // namespace contrafact::whatif
