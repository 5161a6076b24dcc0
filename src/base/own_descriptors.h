// A thread's own table of descriptors, in a process whose other threads may close or overwrite any number.
#pragma once

#include <span>

namespace contrafact::base {

// The calling thread gets a table of its own, in which it keeps `descriptors` alone: all others are closed there, the
// standard ones, too, and stay as they are for the process's other threads. False where the system cannot do that
// (before Linux 5.9): then nothing has changed.
bool keep_only(std::span<const int> descriptors);

// For a thread with a table of its own: a copy of the process's descriptor `number`, to be closed by the caller; -1
// where there is none, or the process may not look for it (before Linux 5.6, in some sandboxes).
int borrow_from_process(int number);

}  // namespace contrafact::base
