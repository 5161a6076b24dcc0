// Critical sections ordered one by one, in place of their locks: each begins when the sections that it has to follow
// are over. With the recorded order (graph/section_order.h) that is PerfPlay's RLSC; with the order that conflicts
// need, the run without its unnecessary lock contention. Both replays wait in the same way, so that they differ by
// their orders alone.
//
// No deadlock: the recorded run itself is an order of all actions that keeps every wait. A section follows sections
// that were over in the recording before it began; conditions count the signals that had been sent, semaphores the
// posts; rounds, joins and wake-ups are the recorded ones. So at any time, of the actions not yet done, the one that
// came first in the recording can be done. Locks that one thread acquires and another releases stay locks, acquired in
// their recorded order: there a thread's own sections do not end before its next one begins.
#pragma once

#include <span>

#include "graph/section_order.h"
#include "replay/schedule.h"

namespace contrafact::replay {

struct TurnCounts {
  uint64_t sections = 0;  // that are ordered one by one
  uint64_t follows = 0;   // how many others each follows, summed
};

// `order`: over the sections of the simulator that planned the schedule, unedited. `group_of`: by section, the group of
// its waiting, below `groups`.
TurnCounts order_sections(Schedule& schedule, const graph::SectionOrder& order, uint32_t groups,
                          std::span<const uint32_t> group_of);

}  // namespace contrafact::replay
