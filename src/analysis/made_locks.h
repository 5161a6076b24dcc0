// Locks that a program makes of a mutex and a word: a recursive mutex, one that is handed out in order. A thread takes
// such a lock in a short section of the mutex, which looks at the word and changes it, and gives it up in a later
// section of the mutex, by other code, which changes the word as well. No event says that the lock is held in between.
//
// Two sections of a mutex are taken for such a pair if all sections of the mutex come from two places, each thread
// goes through them as a lock and its release (one, the other, the one, ...; or nested), all that are known change one and the same word otherwise than by an
// operation that commutes, and those of the first place read it; and if they touch little besides, not far from it,
// unlike those of a pool, which hands out memory and looks into it. A count of those who are inside looks different:
// nobody needs its old value. Where somebody does, as to keep the highest count, a count may be mistaken for a lock:
// what is said of such a lock is for a person to check.
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

// By section: the one that gives up what it takes; kTakesNothing if it takes nothing. `sets` are those of the sections,
// `site_of` numbers their places.
std::vector<uint32_t> made_locks(const model::Trace& trace, std::span<const model::CriticalSection> sections,
                                 const model::SectionSets& sets, std::span<const uint32_t> site_of);

}  // namespace contrafact::analysis
