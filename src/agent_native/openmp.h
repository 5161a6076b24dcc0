// What threads of OpenMP teams do, as their runtime reports it (openmp.cc).
#pragma once

namespace contrafact::agent_native {

// The current thread ends: what it was in the runtime for is over.
void leave_openmp_runtime();

}  // namespace contrafact::agent_native
