// Which core a woken thread gets, as the kernel's context switches show it.
//
// Linux wakes a thread on the core that it ran on before, or on the waking thread's. If another thread runs there, the
// woken thread often queues for that core although another core is idle. The woken thread then runs in one of three
// ways: the running thread leaves the core; the woken thread preempts it at once; or an idle core takes the woken
// thread at a tick of the clock.
// With short sections this decides which thread acquires a lock. As long as the woken thread waits for a core, no other
// thread is woken for the lock, and one thread acquires it again and again for milliseconds.
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
  bool known = false;  // false: the kernel's switches were not recorded, and nothing of this is simulated
  // The share that preempt another thread: of the woken threads that find all cores in use; and of those that queue for
  // a core that is in use although another core is idle.
  double preempting = 0, preempting_though_idle = 0;
  // Of the threads that are woken while a core is idle: the share that queue for a core in use all the same, or preempt
  // the thread that runs there. The idle core takes those that queue at the next tick.
  double staying = 0;
  int64_t tick_ns = 0;  // between two ticks of one core; > 0 where some stay
  // Linux since 6.12: a thread keeps its lag, by which it had run less than the others when it left its core for a wait,
  // and preempts with that. How many do depends on the load: under another one the recorded shares do not hold.
  bool keeps_lag = false;
  bool by_lag = false;  // simulate that, in place of the share of those that find all cores in use
};

// `sections`: of model::critical_sections. `woken`: find_woken of these.
WakePlacement measure_wake_placement(const model::Trace& trace, std::span<const model::CriticalSection> sections,
                                     const Woken& woken, const BusyCores& busy);

}  // namespace contrafact::whatif
