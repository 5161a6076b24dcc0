// A thread of the library's own inside somebody else's program: none of the program's signals is delivered to it.
#pragma once

#include <pthread.h>

#include <cstdint>

#include "base/result.h"

namespace contrafact::deferred {

// `name`: at most 15 characters. The caller joins the thread.
base::Status start_background_thread(const char* name, void* (*main)(void*), void* argument, pthread_t& thread);

// The calling thread runs only where a core has nothing else to do. Not undone: that would need a privilege.
void lower_priority_to_idle();

// CPU time that a thread which was not joined has used.
uint64_t cpu_ns_of(pthread_t thread);

// Cores that this process may use.
unsigned usable_cores();

}  // namespace contrafact::deferred
