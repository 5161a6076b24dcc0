// What a thread does on its core before it sleeps for a mutex. One that finds a mutex held asks the kernel for sleep,
// which takes it a microsecond or two; where the mutex was given up meanwhile, the kernel sends it back, to look again.
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
  int64_t look_ns = 0;        // on a core, from finding the mutex held to having it, of waits without sleep
  int64_t linger_ns = 0;      // on a core, from finding a mutex held to leaving the core, of those with sleep
  std::vector<bool> of_lock;  // by lock: many of its waits are without sleep

  // On a core, from finding the lock held to looking again or sleeping; 0 where that is not known.
  int64_t before_sleep_ns(uint32_t lock) const {
    if (of_lock.empty()) return 0;
    return of_lock[lock] ? look_ns : linger_ns;
  }
};

// `sections`: of model::critical_sections.
ShortWaits find_short_waits(const model::Trace& trace, std::span<const model::CriticalSection> sections);

}  // namespace contrafact::whatif
