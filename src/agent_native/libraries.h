// Which files' code lies where: lists of what is loaded, for the recording process (recorder/loaded_libraries.h).
#pragma once

#include "recorder/recorder.h"

namespace contrafact::agent_native {

// Appends the list of loaded libraries if it has changed since the last call. Waits for the loader's lock for as long
// as that takes to change its own list; allocates nothing. REQUIRES: the current thread is inside.
void list_libraries(recorder::Client* client);

// In a forked child, where another thread of its parent may have held the loader's lock: nobody gives that back. The
// recording process knows what the parent had loaded, and finds what the child loads in the kernel's map.
void never_list_libraries();

}  // namespace contrafact::agent_native
