// Where each task was handed out, to a pool or a thread; or made, if it never was handed out.
//
// Linear in the events of the walks that note it. Once noted, it may be shared.
#pragma once

#include <vector>

#include "model/task_walk.h"
#include "model/trace.h"

namespace contrafact::model {

class HandOuts {
 public:
  // `trace` must outlive it.
  explicit HandOuts(const Trace& trace) : trace_(trace), around_(trace.tasks.size(), TaskId::none()) {}

  // Of each event of each thread.
  void note(const TaskWalk& walk) {
    const bool hands_out = walk.kind() == EventKind::task_spawn || walk.kind() == EventKind::task_create;
    if (!hands_out || walk.a() >= around_.size()) return;
    if (const TaskId task(walk.a()); event(task) == walk.event()) around_[task.index()] = walk.task();
  }

  // None: the recording does not say.
  EventIndex event(TaskId task) const {
    const TaskRow& row = trace_.tasks[task.index()];
    return row.spawn.valid() ? row.spawn : row.create;
  }
  // The innermost task around that event.
  TaskId around(TaskId task) const { return around_[task.index()]; }

 private:
  const Trace& trace_;
  std::vector<TaskId> around_;  // by task
};

}  // namespace contrafact::model
