// The life of threads, as the recorder sees it.
#pragma once

#include "agent_native/recording.h"

namespace contrafact::agent_native {

// The current thread is the process's first.
recorder::Client* attach_main();
// The thread with this id in the kernel has that name from now on.
void name_thread(uint32_t os_tid, const char* name);
// The current thread ends, or the process ends on it: appends its last events. Does nothing on a thread that is not
// attached.
void leave_current();
void leave_current(int64_t now_ns);
// Destructor of Agent::ended, with the number of the library's round through the thread's destructors.
void thread_ended(void* round);

}  // namespace contrafact::agent_native
