// What the recorded run had that simulations of it leave out, where runs are compared that have little else in common:
// a run with a thousandth of the tasks has nothing of what recording each of them took.
#pragma once

#include <algorithm>
#include <cstddef>

#include "model/cold_cores.h"
#include "model/event_cost.h"
#include "model/hand_over_costs.h"

namespace contrafact::whatif {

struct LeftOut {
  model::EventCosts recording;
  // Other programs' use of the cores, the recorder's own thread among them. Simulated as it was recorded, it takes the
  // same time from whatever is left of the program; really it takes the same share.
  bool other_programs = false;
  // What computing took longer because its core had been idle: simulated where the simulated core was.
  model::ColdCores cold_cores;
  // Instead, the program says what was computed after a core had been idle: SimProgram::after_idle.
  bool keeps_after_idle = false;

  bool any() const { return recording.any() || other_programs; }

  // What handing a task out takes its spawner without the recorder. Where the trace says when handing out ended, the
  // recorder's work lies within the time until then; else the time ends with an event of which nothing is known.
  int64_t spawn_ns(const model::HandOverCosts& recorded, size_t task) const {
    using model::EventKind;
    const int64_t recording_ns = recorded.handed[task]
                                     ? recording.of(EventKind::task_spawn) + recording.of(EventKind::task_handed)
                                     : recording.plain_ns();
    return std::max<int64_t>(0, recorded.spawn_ns[task] - recording_ns);
  }
};

}  // namespace contrafact::whatif
