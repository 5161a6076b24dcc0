// The cost of giving up a lock that others wait for. The thread wakes one of them, which takes a system call and an
// interrupt of another core. Or it asks the kernel in vain, and fetches the lock's memory from the core of one that
// looked at it. The recording has this cost in the CPU time after the release; where nobody waits any more, it goes as
// well. With short sections it is several times as long as they are.
//
// Not each release wakes somebody while others sleep. Who is woken needs a while to come, and meanwhile the thread that
// woke it takes the mutex again and gives it up, for nothing, as often as it likes: a mutex has to be marked before a
// sleeper is woken (sim_lock.h). Where the kernel's context switches are known, so is who woke whom (sim_woken.h).
//
// A place is a thread, the code of a section, what the thread does next, and an eighth of the run: other threads do
// other work, and so does one at another time. The cost there is the difference between the mean CPU times up to the
// next event where somebody was woken, or waited, and where nobody did. Where the place has no release for which nobody
// waited, those that woke nobody stand for them, and what waiters cost is what they do elsewhere. A difference that is
// less than five times its error counts as none. The cost of those that woke somebody is shared out among them by how
// much longer than the others each took.
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
  int64_t ns = 0;                    // of a release that woke somebody, on average
  int64_t in_vain_ns = 0;            // of one for whose lock others waited, and that woke nobody
  std::vector<bool> slept;           // by section: somebody waited for its lock when it was given up
  std::vector<bool> woke;            // by section: and was woken; as `slept` where that is not known
  bool wakes_known = false;          // of mutexes
  std::vector<int64_t> recorded_ns;  // by section: of its own release; 0 where nobody waited
};

// `sections`: of model::critical_sections.
// `woken`: find_woken of these.
WakeCost measure_wake_cost(const model::Trace& trace, std::span<const model::CriticalSection> sections,
                           const Woken& woken);

}  // namespace contrafact::whatif
