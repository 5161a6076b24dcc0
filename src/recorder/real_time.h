// Real-time priorities of a process' threads. A thread that has one keeps its core from all that have a lower one or
// none for as long as it wants it, but for a twentieth of each second.
#pragma once

#include <cstdint>

namespace contrafact::recorder {

// The highest of the process' threads; 0 if none has one, or the process is not there.
int real_time_priority_of(int32_t pid);

}  // namespace contrafact::recorder
