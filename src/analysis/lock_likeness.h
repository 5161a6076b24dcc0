// Which objects without a holder serve as locks. A condition, a semaphore or a futex (a word that a program builds its
// own locks on) has waits and wakes, but no holder. If the threads that wait there are woken, one at a time, by threads
// that wait there, too, the object hands something from thread to thread, as a lock does: Rust's Mutex, Python's global
// lock, a semaphore of one. If a producer wakes consumers, the object is no lock: waiting is its purpose. Pure.
#pragma once

#include <span>
#include <vector>

#include "model/critical_sections.h"
#include "model/sync_wakes.h"

namespace contrafact::analysis {

// By lock. True for a condition, semaphore or futex if at least half of the waiting time whose waker is known was ended
// by threads that waited there themselves, at another time. Never true for locks that are held, for barriers and for
// onces. `sections` are critical_sections(trace), `wakes` sync_wakes() of both.
std::vector<bool> locks_by_use(const model::Trace& trace, std::span<const model::CriticalSection> sections,
                               std::span<const model::SyncWake> wakes);

}  // namespace contrafact::analysis
