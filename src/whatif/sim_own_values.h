// Values that each new thread of a pool makes for itself before it works: the values of ThreadLocal variables, such as
// a parser or a dictionary. In the recording, making them is part of the task that first needed them on each worker. A
// larger pool has more workers, and each makes its own.
//
// Pure; linear in the events of workers, where the trace has such values.
#pragma once

#include "whatif/sim_program.h"

namespace contrafact::whatif {

// Adds a fiber for each pool in which at least half of the recorded workers made such values. The fiber takes the
// median of the time that they computed and slept for them. REQUIRES: `program` is compiled.
void add_own_values(SimProgram& program);

}  // namespace contrafact::whatif
