// The improvements of locks worth estimating: what would help at a site that waits for a lock, judged by what its
// critical sections touched: not yet priced. Only locks that somebody waited for are looked at.
//
// A byte is *contested* under a lock if sections of that lock in several threads touch it, at whatever time, and one of
// them writes it, be it silently or so that writes commute: without the lock these would need atomic operations. What
// touches no contested byte needs no exclusion, as far as the run shows: of code that only one thread ran it shows
// little. What such code writes and no other code touches may have a lock of its own, but none is not proposed.
//
// Sections whose sets are not complete are never changed by a candidate. Where they could contradict it, a split and an
// atomic are not proposed at all, and the other candidates say how many there are (`unknown`).
//
// Pure function. Cost: linear in sections and in the cells of their sets (graph/lock_cells.h).
#pragma once

#include "analysis/ulc.h"
#include "improve/candidate.h"

namespace contrafact::improve {

// drop-lock            sections of a site that touch no contested byte
// reader-writer-lock   sites that only read
// shared-look          sites most of whose sections only look at contested bytes
// split-lock           bytes that no section ties together: contested ones, and what is written by code that one thread
//                      ran; or what is left of these without the few that hardly a section changes (a container's own)
//                      or objects, of which nearly every section touches two at most: who touches two takes both locks
// shorten-section      what touches no contested byte, at the beginning, at the end or in the middle of a section; at
// the
//                      end also what a later section of the thread hands on to others (hand_over_cells.h)
// make-atomic          all that is contested is one word, and no section computes its new value from the old one but by
//                      operations that commute
Candidates lock_candidates(const analysis::SectionFacts& facts);

}  // namespace contrafact::improve
