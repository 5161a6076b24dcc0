// Bytes that a lock guards and that a second lock, acquired and released inside of its sections, guards as well. They
// come from code that holds a lock around calls of a library that does its own locking. Such bytes need the outer lock
// only where several inner sections have to be one step.
//
// A byte is guarded inside if all sections of the lock that touch it do so while they hold one and the same further
// lock, acquired after this one; exclusively, where they write. The byte is not guarded inside if a section only reads
// it in one inner section and changes it in a later one: the new value may follow from the one read before.
//
// A program may make a lock of its own from a mutex (made_locks.h). Between the two sections of the mutex that acquire
// and release that lock, it counts as held.
//
// Pure function. Cost: linear in the events, and in the cells of the sets of locks that have inner sections
// (graph/lock_cells.h).
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "analysis/lock_sites.h"
#include "model/critical_sections.h"
#include "model/section_sets.h"

namespace contrafact::analysis {

struct InnerGuard {
  std::vector<std::pair<uint64_t, uint64_t>> ranges;  // begins and ends of addresses, ascending, apart from each other
  std::string at;                                     // the code that takes the inner locks most
  bool is_made = false;                               // some bytes only by a lock that the program makes itself

  bool covers(uint64_t begin, uint64_t end) const;
};

// By lock. `sections` are those of the trace, `sets` the memory that they touch, `site_of` their places in `sites`.
std::vector<InnerGuard> inner_guards(const model::Trace& trace, std::span<const model::CriticalSection> sections,
                                     const model::SectionSets& sets, const LockSites& sites,
                                     std::span<const uint32_t> site_of);

}  // namespace contrafact::analysis
