// Which of the two models' figures to read first. Decided from the recorded run alone, before any
// improvement is estimated.
//
// The rule: where something ran short in the recorded run, its queue is part of what an improvement changes, and only
// re-dispatch models queues. Otherwise nothing would be handed out differently, and fixed assignment, which keeps more
// of the recording, is the better guess. Short means, during the tasks' window,
//  - a bounded pool had every worker occupied for more than kSaturatedMax of the time, or
//  - threads had to wait for a core for more than kOverloadedMax of the time: as the kernel told; where it did not,
//    more threads were active and not blocked than there are cores.
// Where the simulation misses its own check (BaselineCheck), its gains are less certain by what it misses, and the
// reason says so; the estimate knows no queues and is no way out. Only a simulation that came to no end has no figures
// at all.
#pragma once

#include <string>

#include "model/trace.h"
#include "whatif/simulate.h"

namespace contrafact::cli {

inline constexpr double kSaturatedMax = 0.01;
inline constexpr double kOverloadedMax = 0.05;

struct Headline {
  model::Origin model = model::Origin::estimated;  // or simulated
  std::string reason;  // a clause: "pool web had all 5 workers occupied for 31 % of the time"
};

// `cores` 0: as the trace says. `baseline` null: nothing was simulated.
Headline headline_of(const model::Trace& trace, const whatif::BaselineCheck* baseline, uint32_t cores);

}  // namespace contrafact::cli
