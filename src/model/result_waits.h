// Who asks for each task's result, and what was handed out before that: the facts behind running a task where it is
// waited for instead of handing it out.
//
// Pure; linear in the events.
#pragma once

#include <vector>

#include "model/trace.h"

namespace contrafact::model {

// Of several, the last one holds.
enum class Asker : uint8_t {
  nobody,     // no wait for it
  spawner,    // whoever handed it out (a task, or a thread outside tasks), later, and got its result
  others,     // somebody else, too
  stage,      // another task depends on it, or it on another
  no_result,  // a wait ended without its result, or it was cancelled
};

struct ResultWait {
  Asker asker = Asker::nobody;
  ContextId place;    // of the spawner's first wait for it
  TaskId next, last;  // of what the spawner handed out after it and before that wait: the first, and the last
  // How many tasks of its place its spawner had handed out and not asked for when it asked for the first of them, if
  // that is this one; else 0.
  uint32_t batch = 0;
};

// By task.
std::vector<ResultWait> result_waits(const Trace& trace);

}  // namespace contrafact::model
