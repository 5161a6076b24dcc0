// How a simulated run's tasks depend on each other: what sets each task off, where it is called instead of handed out,
// what completes it, and for which tasks the run does not wait. Linear in the events.
#pragma once

#include <cstdint>
#include <vector>

#include "whatif/sim_program.h"

namespace contrafact::whatif {

// Fills in the program's data about each task, except for its operations. By task: its first task_depends event;
// UINT32_MAX: none. REQUIRES: trace, uses, conventions and periodic_due_ns are there.
std::vector<uint32_t> find_ties(SimProgram& program);

}  // namespace contrafact::whatif
