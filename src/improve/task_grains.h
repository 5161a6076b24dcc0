// Classes of tasks whose grain can change: those that one line of the program hands out and that run one body. A body
// whose tasks hand out tasks of the same body is a recursion: all of these are one class, wherever they are handed out.
//
// Pure; linear in the events.
#pragma once

#include <cstdint>
#include <vector>

#include "model/facts.h"

namespace contrafact::improve {

struct TaskGrain {
  model::MethodId body;
  model::ContextId place;            // of the spawn of the class's first task
  std::vector<model::TaskId> tasks;  // handed out to a pool, or threads that the program starts; all ran. Ascending
  // Of a recursion: by position in `tasks`, how many tasks of the body led to it, each of which handed out or called the
  // next. Empty: no recursion.
  std::vector<uint32_t> levels;
  uint32_t deepest = 0;  // of `levels`
  bool of_threads = false;
};

// In the order of each class's first task.
std::vector<TaskGrain> task_grains(const model::Facts& facts);

}  // namespace contrafact::improve
