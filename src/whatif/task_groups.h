// Groups of tasks that run as one: of the tasks that one loop hands out, neighbours become a single task, which runs
// the bodies of all one after the other (merge-tasks). It is handed out where the last of them was. The results of all
// are there when the last body has ended.
//
// A run of neighbours is what one task or thread hands out in a row, without waiting for anything in between. Each run
// is cut into groups of the wanted size, and what is left: ten tasks by fours become 4, 4 and 2.
//
// Pure; linear in the program's operations.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/result.h"
#include "model/trace.h"
#include "whatif/variant.h"

namespace contrafact::whatif {

struct SimProgram;

struct TaskGroups {
  static constexpr uint32_t kNone = UINT32_MAX;
  std::vector<uint32_t>
      of_task;  // by task: the number of its group; kNone: it runs by itself. Empty: there are no groups
  // The members of group g, in the order in which they are handed out: [begin[g], begin[g + 1]) of `members`.
  std::vector<uint32_t> members;
  std::vector<uint32_t> begin{0};

  bool has(uint32_t task) const { return task < of_task.size() && of_task[task] != kNone; }
  std::span<const uint32_t> of(uint32_t group) const {
    return std::span(members).subspan(begin[group], begin[group + 1] - begin[group]);
  }
  // The member that stands for the group in queues. REQUIRES: has(task).
  uint32_t last_of(uint32_t task) const { return members[begin[of_task[task] + 1] - 1]; }
};

// Runs of the neighbours among `tasks`, in the order in which they are handed out; without tasks that nobody hands out,
// that wait for other tasks or for a time, or that never ran. Threads that the program starts are tasks, too.
std::vector<std::vector<uint32_t>> neighbours(const SimProgram& program, std::span<const model::TaskId> tasks);

// Errors: one task is in two merges.
base::Result<TaskGroups> task_groups(const SimProgram& program, std::span<const TaskMerge> merges);

}  // namespace contrafact::whatif
