// Which critical section of a recording shows what another section touched: one of the same lock, asked for by the same
// code, of the same thread where there is one; and both end in a wait at a condition, or neither does.
//
// Threads of two recordings correspond by what they run and by their order; locks by name or by the code that takes
// them most, and by the order of their first use. The i-th section of n corresponds to the (i * m / n)-th of m,
// within one recording to the nearest in time; or to one of the four before and after that if it is as long among its
// own as the section is among its own: code that finds what it looks for and code that does not differ in that.
//
// Pure function; a sort of the sections of each recording.
#pragma once

#include <cstdint>
#include <vector>

#include "analysis/section_facts.h"

namespace contrafact::analysis {

inline constexpr uint32_t kNoSection = UINT32_MAX;

// For each section of `to` one of `from`, or kNoSection: nobody holds it, or nothing of its lock and code was observed.
// Sections of `from` that were outside of a window are none of them. `to` may be `from`: then a section that was
// observed is its own counterpart.
std::vector<uint32_t> match_sections(const SectionFacts& to, const SectionFacts& from);

}  // namespace contrafact::analysis
