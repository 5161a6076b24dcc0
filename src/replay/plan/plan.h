// From a recorded native run to a schedule for real threads: the operations that the simulation executes
// (whatif/sim_program.h), each thread's in one list, critical sections as a variant says. Pure.
#pragma once

#include "replay/schedule.h"
#include "whatif/simulate.h"

namespace contrafact::replay {

// Errors: the trace is not of a native program, has more threads than a replay starts, or is longer than it may take;
// the variant changes tasks or pools. One line that says which. The variant's cores are not in the schedule: whoever
// replays it sets them.
base::Result<Schedule> plan_schedule(const whatif::Simulator& simulator, const whatif::Variant& variant);

inline constexpr size_t kReplayThreadsMax = 2'000;

}  // namespace contrafact::replay
