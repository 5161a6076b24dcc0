// Whether this process is a forked child of the one in which something was made. A child has a copy of all memory, but
// only the thread that forked: locks of other threads stay held, and whoever waits for them waits for ever.
//
// Thread safety: everything.
#pragma once

#include <cstdint>

namespace contrafact::deferred {

// Another number in each forked child than in its parent. Costs a load, but for the first call.
uint32_t forks_before();

}  // namespace contrafact::deferred
