// A thread of the library's own inside somebody else's program: none of the program's signals is delivered to it.
#pragma once

#include <pthread.h>

#include <cstdint>

#include "base/result.h"

namespace contrafact::deferred {

// `name`: at most 15 characters. The caller joins the thread.
base::Status start_background_thread(const char* name, void* (*main)(void*), void* argument, pthread_t& thread);

// From now on the calling thread runs only where a core has nothing else to do. To undo this would need a privilege.
void lower_priority_to_idle();

// Of the calling thread, from whoever started the program with one; 0: none.
int own_real_time_priority();
// Gives the thread of that id (0: the calling one) a higher real-time priority than `priority`, if it has none. It
// takes the events of threads of that priority, and would else wait while these are busy. Does nothing for 0. Returns
// the thread's priority afterwards, unchanged where it may not be raised.
int raise_above_real_time(pid_t thread, int priority);

// CPU time that a thread which was not joined has used.
uint64_t cpu_ns_of(pthread_t thread);

// Cores that this process may use.
unsigned usable_cores();

}  // namespace contrafact::deferred
