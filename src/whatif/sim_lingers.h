// What a thread does on its core before it sleeps for a mutex. One that finds a mutex held asks the kernel for sleep,
// and is a few microseconds on its way there. Until it has left its core it is woken at little cost: it goes on at once,
// nobody sends for it, and no core is left to others. With sections that are not much longer than that, many waits are
// of this kind. The kernel's context switches show when a waiting thread left its core, and whether it did.
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

struct Lingers {
  // Typical times on a core: from finding the mutex held to leaving the core,
  int64_t first_ns = 0;  // of who has just asked for it,
  int64_t again_ns = 0;  // of who has slept, and came in vain;
  // and from the mutex being given up to having it, of who has not left its core.
  int64_t return_ns = 0;
  std::vector<bool> of_lock;  // by lock: it serves as a mutex; empty where the switches are not known
};

// `sections`: of model::critical_sections. `woken`: find_woken of these.
Lingers find_lingers(const model::Trace& trace, std::span<const model::CriticalSection> sections, const Woken& woken);

}  // namespace contrafact::whatif
