// The combinator that a coordinator task could be written as (Rehype, figure 3 and footnote 4): its sub-tasks stay parallel
// where it spawned them before it waited, and what follows a wait becomes a dependent stage.
//
// Pure; linear in the task's events.
#pragma once

#include <string>
#include <vector>

#include "model/trace.h"

namespace contrafact::whatif {

// Sub-tasks that the coordinator had spawned when it began to wait, and the results that it then waited for.
struct CombinatorStage {
  struct Part {
    model::ContextId at;    // of the spawn, or of the wait
    model::MethodId body;   // of the sub-task
    uint32_t count = 1;     // in a row at the same place: a loop
  };
  std::vector<Part> spawned;
  std::vector<Part> awaited;
};

// REQUIRES: `task` has a start and an end.
std::vector<CombinatorStage> combinator_stages(const model::Trace& trace, model::TaskId task);

// In Java's words: "a = supplyAsync(Item::load), b = supplyAsync(Price::load); a.thenCombine(b, (x, y) -> rest)".
std::string combinator_expression(const model::Trace& trace, const std::vector<CombinatorStage>& stages);

}  // namespace contrafact::whatif
