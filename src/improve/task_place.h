// The place in the program where a task is made: the unit that one change of the source affects.
//
// A task's place is where it is handed out. A dependent stage is handed out by the thread that completes its source. So
// its place is where it was made, at the call of the future's method: it is chance whether that method found the source
// complete already and handed the stage out itself. Stacks of one place of the source are equal (source_places.h).
//
// Immutable after construction; linear in the dependencies, O(depth of the stack) a question.
#pragma once

#include <vector>

#include "improve/source_places.h"
#include "model/trace.h"

namespace contrafact::improve {

class TaskPlaces {
 public:
  explicit TaskPlaces(const model::Trace& trace);
  // True if it depends on other tasks, and was made at a known place.
  bool is_dependent(model::TaskId task) const { return dependent_[task.index()]; }
  // The first context of the place.
  model::ContextId context(model::TaskId task) const;
  // The first context of the place where it was made; none if unknown.
  model::ContextId made(model::TaskId task) const;

 private:
  const model::Trace& trace_;
  std::vector<bool> dependent_;
  const SourcePlaces sources_;
};

}  // namespace contrafact::improve
