// Which thread asks for each task's result, and what was handed out before. These facts decide whether a task can run
// where it is waited for instead of being handed out.
//
// Pure; linear in the events.
#pragma once

#include <vector>

#include "model/trace.h"

namespace contrafact::model {

// Where several apply: the last one.
enum class Asker : uint8_t {
  nobody,     // no wait for it
  spawner,    // the task (or thread outside tasks) that handed it out, later; it got the result
  others,     // another task or thread, too
  stage,      // another task depends on it, or it on another
  no_result,  // a wait ended without its result, or it was cancelled
};

struct ResultWait {
  Asker asker = Asker::nobody;
  ContextId place;    // of the spawner's first wait for it
  TaskId next, last;  // the first and the last that the spawner handed out after it and before that wait
  // For the first task of its place that its spawner asks for: how many tasks of that place the spawner has by then
  // handed out and not asked for. For all other tasks: 0.
  uint32_t batch = 0;
};

// The result is by task.
std::vector<ResultWait> result_waits(const Trace& trace);

}  // namespace contrafact::model
