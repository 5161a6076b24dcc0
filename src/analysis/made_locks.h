// Locks that a program makes from a mutex and a word: a recursive mutex, or a lock that is handed out in order. A
// thread acquires such a lock in a short section of the mutex, which reads the word and changes it. It releases the
// lock in a later section of the mutex, by other code, which changes the word, too. No event says that the lock is held
// in between.
//
// Two sections of a mutex count as such a pair under these conditions. All sections of the mutex come from two places.
// Each thread goes through the places as through an acquisition and its release (one, the other, the one, ...; or
// nested). All sections that are known change one and the same word by operations that do not commute, and those of the
// first place read it. They touch little else, and only memory near the word. (Sections of a pool differ: a pool hands
// out memory and looks into it.) A count of the threads inside looks different: no code needs its old value. Where code
// does need it, for example to keep the highest count, a count may be mistaken for a lock. So a person has to check
// what is reported about such a lock.
//
// Pure function, linear in the sections and the ranges of their sets.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "model/critical_sections.h"
#include "model/section_sets.h"

namespace contrafact::analysis {

inline constexpr uint32_t kTakesNothing = UINT32_MAX;

// By section: the later section that releases the lock that this one acquires; kTakesNothing if it acquires none.
// `sets` are those of the sections, `site_of` numbers their places.
std::vector<uint32_t> made_locks(const model::Trace& trace, std::span<const model::CriticalSection> sections,
                                 const model::SectionSets& sets, std::span<const uint32_t> site_of);

}  // namespace contrafact::analysis
