// The analysis mode of the agent: no trace; the probes' events go into an analysis (src/online) while the program runs.
//
// Agent_OnLoad calls start_analysis() once; then JVMTI's callbacks and the injected classes' native methods find their
// way by themselves. Nothing here is ever destroyed.
#pragma once

#include <jvmti.h>

#include "base/result.h"

namespace contrafact::agent_jvm {

struct Agent;

// Errors: the analysis cannot be loaded or refuses, the output cannot be written, the JVM refuses.
base::Status start_analysis(Agent& agent);

}  // namespace contrafact::agent_jvm
