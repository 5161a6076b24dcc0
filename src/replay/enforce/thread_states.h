// Whether the process's threads have anything to do, as the kernel sees it.
#pragma once

namespace contrafact::replay {

// Whether any thread but the calling one has a core or waits for one. A thread that was woken counts from then on, not
// only once it has its core. Cost: a small file read for each thread. True if the kernel does not tell.
bool others_can_run();

}  // namespace contrafact::replay
