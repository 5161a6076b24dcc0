// Whether the process's threads have anything to do, as the kernel sees it.
#pragma once

namespace contrafact::replay {

// Whether any thread but the calling one runs on a core or waits for one. A woken thread counts from its wake-up on,
// not only once it has its core. Cost: a small file read for each thread. True if the kernel does not report it.
bool others_can_run();

}  // namespace contrafact::replay
