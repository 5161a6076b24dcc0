// The cost of releasing a lock that others wait for. The releasing thread wakes one of them, which takes a system call
// and an interrupt of another core. Or it asks the kernel in vain, and fetches the lock's memory from the core of a
// thread that looked at the lock. In the recording this cost is part of the CPU time after the release. In a variant
// where no thread waits any more, the cost is gone, too. Short sections are several times shorter than it.
//
// Not every release wakes a thread while others sleep. A woken thread needs a while to come. Meanwhile the thread that
// woke it may acquire and release the mutex again, any number of times, at no such cost: a mutex has to be marked
// before a sleeper is woken (sim_lock.h). Where the kernel's context switches are known, they show which thread woke
// which (sim_woken.h).
//
// A place is a thread, the code of a section, what the thread does next, and an eighth of the run: other threads do
// other work, and so does one thread at another time. The cost at a place is a difference between mean CPU times up to
// the next event. It compares releases that woke a thread, or for which a thread waited, with releases for which no
// thread waited. If the place has none of the latter, the releases that woke no thread stand for them: a quarter of
// these is taken to cost nothing, and how the code's mean relates to its lower quartile is known from other places. Of
// code that is not known elsewhere, either, the cost of waiters is that of all other places. Where no place has
// enough of either, the few of all places give the cost together, each compared with the others of its own place. A
// difference that is less than five times its error counts as none. The cost of the releases that woke a thread is
// divided among them by how much longer than the others each took.
//
// Pure; linear in the sections but for sorts.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "model/critical_sections.h"
#include "model/trace.h"
#include "whatif/sim_woken.h"

namespace contrafact::whatif {

struct WakeCost {
  int64_t ns = 0;                    // of a release that woke a thread, on average
  int64_t in_vain_ns = 0;            // of a release that woke no thread although others waited
  std::vector<bool> slept;           // by section: a thread waited for its lock at the release
  std::vector<bool> woke;            // by section: that thread was woken; as `slept` where not known
  bool wakes_known = false;          // of mutexes
  std::vector<int64_t> recorded_ns;  // by section: of its own release; 0 if no thread waited
};

// `sections`: of model::critical_sections.
// `woken`: find_woken of these.
WakeCost measure_wake_cost(const model::Trace& trace, std::span<const model::CriticalSection> sections,
                           const Woken& woken);

}  // namespace contrafact::whatif
