// From a recorded native run to a schedule for real threads: the operations that the simulation executes
// (whatif/sim_program.h), each thread's in one list, critical sections changed as edits say. Pure.
#pragma once

#include <span>

#include "replay/schedule.h"
#include "whatif/simulate.h"

namespace contrafact::replay {

// Errors: the trace is not of a native program, has more threads than a replay starts, or is longer than it may take;
// one line that says which. `edits` as for Simulator::simulate_sections.
base::Result<Schedule> plan_schedule(const whatif::Simulator& simulator, std::span<const whatif::SectionEdit> edits);

inline constexpr size_t kReplayThreadsMax = 2'000;

}  // namespace contrafact::replay
