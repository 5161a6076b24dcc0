// How long a thread of a JVM tries to get a lock before it sleeps. HotSpot's monitors are tried for as long as that was
// of use before, at each lock; a thread that gets the lock meanwhile goes on at once, where a sleeper has to be woken. The
// recording shows it: how long after a release the next thread had the lock, by how long it had waited.
//
// Pure; linear in the sections but for sorts.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "model/critical_sections.h"

namespace contrafact::whatif {

// Of one lock.
struct Tries {
  int64_t wait_ns = 0;  // a thread that has waited for less is still trying; 0: threads sleep at once
  int64_t way_ns = 0;   // from the release until such a thread has the lock
};

// By lock. `sections`: of model::critical_sections.
std::vector<Tries> find_tries(std::span<const model::CriticalSection> sections, size_t locks);

}  // namespace contrafact::whatif
