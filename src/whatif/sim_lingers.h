// What a thread does on its core before it sleeps for a mutex. A thread that finds a mutex held asks the kernel for
// sleep. The kernel looks whether the mutex is still held. If it was released meanwhile, the thread goes back and looks
// again without having slept: no wake-up follows, and the core is not left to others. Else the thread queues, and needs
// a while to leave its core. With sections that are not much longer than that, many waits are no sleeps. The kernel's
// context switches show when a waiting thread left its core, and whether it did.
//
// Pure; linear in the sections and switches but for sorts.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "model/critical_sections.h"
#include "model/trace.h"
#include "whatif/sim_woken.h"

namespace contrafact::whatif {

// Typical times on a core.
struct Lingers {
  // From when a thread found the mutex held
  int64_t asked_ns = 0;            // to when the kernel looks, and the thread looks again if the mutex was released;
  int64_t asleep_ns = 0;           // to when the thread has left its core, where it was not;
  int64_t again_ns = 0;            // to both, of a thread that had slept, and came in vain.
  std::vector<bool> of_lock = {};  // by lock: it serves as a mutex; empty where the switches are not known
};

// `sections`: of model::critical_sections. `woken`: find_woken of these.
Lingers find_lingers(const model::Trace& trace, std::span<const model::CriticalSection> sections, const Woken& woken);

}  // namespace contrafact::whatif
