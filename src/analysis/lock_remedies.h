// What would help at a site that waits for a lock, judged by what its critical sections touched: candidates for an
// estimate, not yet priced. Only locks that somebody waited for are looked at.
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

#include <string_view>
#include <vector>

#include "analysis/ulc.h"

namespace contrafact::analysis {

enum class RemedyKind : uint8_t {
  drop_lock,           // sections of a site that touch no contested byte take no lock
  reader_writer_lock,  // sites that only read take the lock as readers
  split_lock,          // bytes that no section ties together get locks of their own: contested ones, and what is
                       // written by code that one thread ran
  shorten_section,     // what touches no contested byte, at the beginning or end of a section, moves out of it
  make_atomic,         // all that is contested is one word, and no section computes its new value from the old one but
                       // by operations that commute: atomic operations in the place of the lock
};

struct LockRemedy {
  RemedyKind kind = RemedyKind::drop_lock;
  std::vector<uint32_t> sites;            // where the source changes, the most used first
  std::vector<model::LockId> locks;       // ascending
  std::vector<uint32_t> sections;         // that change, ascending
  std::vector<uint32_t> part;             // split_lock: by position in `sections`, from 0 on for each lock
  std::vector<int64_t> head_ns, tail_ns;  // shorten_section: by position in `sections`, what moves out
  uint32_t parts = 0;                     // split_lock: into how many, of the lock with most
  uint64_t of_sections = 0;               // that these sites have under these locks
  uint64_t unknown = 0;                   // of all sections of these locks: sets not complete
};

// A site or lock for which a kind of remedy was considered and is not proposed; `reason` says why.
struct NoRemedy {
  RemedyKind kind;
  model::LockId lock;
  std::string_view reason;
};

struct LockRemedies {
  std::vector<LockRemedy> remedies;
  std::vector<NoRemedy> refused;
};

LockRemedies lock_remedies(const SectionFacts& facts);

}  // namespace contrafact::analysis
