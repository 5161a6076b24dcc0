// Which release ended which wait for a lock.
//
// Pure; linear in the critical sections but for a sort by event.
#pragma once

#include <vector>

#include "model/facts.h"

namespace contrafact::graph {

struct LockHandOver {
  model::EventIndex acquire;  // of the thread that waited
  model::EventIndex release;  // by another thread, while it waited: the last one by which it had to go
  int64_t request_ns;         // when it asked
};

// Of the locks that threads hold, but for those of a first use. Sorted by `acquire`. A wait is not among them where the
// release was not recorded, or came before the thread asked.
std::vector<LockHandOver> lock_hand_overs(const model::Facts& facts);

}  // namespace contrafact::graph
