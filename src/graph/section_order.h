// The order in which the critical sections of each lock must run: recorded, or only as far as they conflict.
//
// The transitive repair of PerfPlay, section 3.2, removes the unnecessary part of the recorded order. Two sections that
// conflict, and that were ordered through a removed pair, keep an order of their own. (A<B<C with <A,B> and <B,C>
// unnecessary and A, C in conflict becomes A<C.)
//
// How: a sweep over each lock's sections with a state for each *cell*, a stretch of addresses that every set of the
// lock covers wholly or not at all. Accesses of one class that need no order among each other (section_conflicts.h)
// form a group; each section comes after the cell's previous group. A section that is not known completely is ordered
// against every other section that touches anything. Cost: for each section the cells that it touches, and the edges.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "graph/section_conflicts.h"

namespace contrafact::graph {

// For each section, its direct predecessors: sections that must have ended before it begins. Sections of its own thread
// are left out.
struct SectionOrder {
  std::vector<uint32_t> begin;   // by section, one more
  std::vector<uint32_t> before;  // sections

  std::span<const uint32_t> of(uint32_t section) const {
    return std::span(before).subspan(begin[section], begin[section + 1] - begin[section]);
  }
};

// `sections` are critical_sections(trace) here and below. Each section comes after the last one that excluded it: a
// reader after the last writer; a writer after the last writer and the readers since then.
SectionOrder recorded_order(const model::Trace& trace, std::span<const model::CriticalSection> sections);

// Consecutive sections, in the recorded order, of different threads: the pairs of algorithm 1.
struct SectionPair {
  uint32_t first;
  uint32_t second;
};
std::vector<SectionPair> adjacent_pairs(const SectionOrder& recorded);

// The order that conflicts demand. `relax`: by lock, whether its order is reduced to that; empty: all are. A lock keeps
// its recorded order if it has too many cells (kCellUsesMax), or if it has both readers and sections that are not
// known.
SectionOrder needed_order(const model::Trace& trace, std::span<const model::CriticalSection> sections,
                          const model::SectionSets& sets, const SectionOrder& recorded,
                          const std::vector<bool>& relax = {});

}  // namespace contrafact::graph
