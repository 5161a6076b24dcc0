// Which core a thread gets that was woken, as the kernel's context switches show it.
//
// Linux wakes a thread on the core that it had. Where that one is in use, the thread often queues for it though another
// is idle: the kernel does not look for idle ones where the cores had much to do lately, and leaves a thread where it
// has not taken it off the queue yet. There the thread gets its core when the one that has it leaves it, or at once
// instead of that one, or an idle core takes it at a tick of the clock. Short sections turn on this: while the one that
// was woken waits for a core, nobody else is woken for the lock, and one thread has it all for milliseconds.
//
// Pure; O(switches log switches).
#pragma once

#include <cstdint>
#include <span>

#include "model/critical_sections.h"
#include "model/trace.h"
#include "whatif/sim_busy_cores.h"
#include "whatif/sim_woken.h"

namespace contrafact::whatif {

struct WakePlacement {
  bool known = false;  // by the kernel's switches; else who is woken comes as late as the typical one does
  // Of those that were woken and found all cores in use, the share that took one from the thread that had it.
  double preempting = 0;
  // Who is woken queues for its core, in use as that is, though another is idle; a tick later that one takes it.
  bool stays = false;
  int64_t tick_ns = 0;  // REQUIRES: > 0 where it stays
};

// `sections`: of model::critical_sections. `woken`: find_woken of these.
WakePlacement measure_wake_placement(const model::Trace& trace, std::span<const model::CriticalSection> sections,
                                     const Woken& woken, const BusyCores& busy);

}  // namespace contrafact::whatif
