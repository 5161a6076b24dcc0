// Which files' code lies where: lists of what is loaded, for the recording process (recorder/loaded_libraries.h).
#pragma once

#include "recorder/recorder.h"

namespace contrafact::agent_native {

// Appends the list of loaded libraries if it has changed since the last call. Waits for the loader's lock for as long
// as that takes to change its own list; allocates nothing. REQUIRES: the current thread is inside.
void list_libraries(recorder::Client* client);

// In a forked child: the next call appends the list.
void forget_libraries();

}  // namespace contrafact::agent_native
