// Which processes share a piece of memory.
//
// Thread safety: any thread. Reads the maps of the processes that began after this one and that it may look at.
#pragma once

#include <cstdint>
#include <vector>

namespace contrafact::recorder {

// Ids of the processes, this one left out, that map the memory behind `fd`, which memfd_create made. A process that has
// become another program (exec) no longer maps it.
std::vector<int32_t> processes_that_map(int fd);

}  // namespace contrafact::recorder
