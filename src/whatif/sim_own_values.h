// What each new thread of a pool makes for itself before it works: the values of ThreadLocal variables, a parser or a
// dictionary of its own. The recorded workers' are parts of the tasks that met them first. A larger pool has more
// workers, and each makes its own.
//
// Pure; linear in the events of workers, where the trace has such values.
#pragma once

#include "whatif/sim_program.h"

namespace contrafact::whatif {

// Adds a fiber for each pool at least half of whose recorded workers made such values: the median of what they computed
// and slept for it. REQUIRES: `program` is compiled.
void add_own_values(SimProgram& program);

}  // namespace contrafact::whatif
