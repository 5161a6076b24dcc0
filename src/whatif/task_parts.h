// Tasks that are split: each becomes about as many parts as asked for, which share its time on a core evenly
// (split-tasks). The parts are handed out where the task was, one after the other. What waited for the task waits for
// all of them.
//
// The recorded run is rewritten: the worker that ran the task runs the parts in turn (the run of a thread that the program
// started is divided among further threads), and what the task did at its very
// end (it completes, wakes threads, ends) becomes a stage that depends on all parts. The simulation then hands the parts
// out anew. A part never begins within a wait, a block, a nested task, a method whose events were recorded, or a
// critical section: there, it begins where that ends.
//
// Pure; linear in the events.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "model/trace.h"
#include "whatif/variant.h"

namespace contrafact::whatif {

// A run with parts. The parts have the last numbers of tasks; the recorded tasks keep theirs.
struct RunWithParts {
  model::Trace trace;
  // By part: the recorded task that it is a part of. A part's number is the count of recorded tasks plus its position.
  std::vector<model::TaskId> part_of;
};

// None: none of the tasks can be split.
std::optional<RunWithParts> with_task_parts(const model::Trace& trace, std::span<const TaskSplit> splits);

}  // namespace contrafact::whatif
