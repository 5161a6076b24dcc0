// Which files' code lies where: lists of what is loaded, for the recording process (recorder/loaded_libraries.h).
#pragma once

#include "recorder/recorder.h"

namespace contrafact::agent_native {

// Before `main`.
void prepare_to_list_libraries();

// Appends the list of loaded libraries if it has changed since the last call. Not while another thread walks along the
// loader's list, or the loader changes it: then the next call does, or the recording process finds out by itself.
// Allocates nothing. REQUIRES: the current thread is inside.
void list_libraries(recorder::Client* client);

// In a forked child, where another thread of its parent may have held the loader's lock: nobody releases it. The
// recording process knows what the parent had loaded, and finds what the child loads in the kernel's map.
void never_list_libraries();

}  // namespace contrafact::agent_native
