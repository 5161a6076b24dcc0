// Mutexes whose waiters do not get to sleep. A thread that finds a mutex held asks the kernel for sleep, which takes it
// a microsecond or two on its core; where the mutex was given up meanwhile, the kernel sends it back, to look again.
// With sections that are not much longer than that, many waits are no sleeps: no wake-up follows, and no core is left
// to others. The kernel's context switches show which waits were sleeps. Reader-writer locks that nobody reads under
// count as mutexes.
//
// Pure; linear in the sections but for sorts.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "model/critical_sections.h"
#include "model/trace.h"

namespace contrafact::whatif {

struct ShortWaits {
  int64_t look_ns = 0;        // on a core, from finding the mutex held to looking again or sleeping
  std::vector<bool> of_lock;  // by lock: who finds it held looks again before it sleeps
};

// `sections`: of model::critical_sections.
ShortWaits find_short_waits(const model::Trace& trace, std::span<const model::CriticalSection> sections);

}  // namespace contrafact::whatif
