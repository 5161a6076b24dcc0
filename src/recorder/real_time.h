// Real-time priorities of a process' threads. A thread that has one keeps its core for as long as it wants, but for a
// twentieth of each second; threads with a lower one or none must wait.
#pragma once

#include <cstdint>

namespace contrafact::recorder {

// The highest of the process' threads; 0 if none has one, or the process is not there.
int real_time_priority_of(int32_t pid);

}  // namespace contrafact::recorder
