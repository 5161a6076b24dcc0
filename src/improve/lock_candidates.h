// The improvements of locks worth estimating: changes that would help at a site that waits for a lock, judged by the
// memory that its critical sections touched, and not yet priced. Only locks that a thread waited for are looked at.
//
// A byte is *contested* under a lock if sections of that lock in several threads touch it, at whatever time, and one of
// them writes it, even if the write is silent or commutes with the others: without the lock, such writes would need
// atomic operations. A section that touches no contested byte needs no exclusion, as far as the run shows. About code
// that only one thread ran, the run shows little. Data that such code writes and no other code touches may have a lock
// of its own; to drop its lock is not proposed. Where several threads took the lock and the sections of one alone were
// observed, what these touch counts as touched by several.
//
// Sections whose sets are not complete are never changed by a candidate. Where they could contradict it, a split and an
// atomic are not proposed at all, and the other candidates say how many there are (`unknown`).
//
// Pure function. Cost: linear in sections and in the cells of their sets (graph/lock_cells.h).
#pragma once

#include "analysis/ulc.h"
#include "improve/candidate.h"

namespace contrafact::improve {

// Of all kinds of changes of sections: the files in kinds/ say what each kind looks for.
Candidates lock_candidates(const analysis::SectionFacts& facts);

}  // namespace contrafact::improve
