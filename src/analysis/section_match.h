// Which critical section of a recording shows what another section touched: one of the same lock, asked for by the same
// code, of the same thread where there is one; and both end in a wait at a condition, or neither does.
//
// Threads of two recordings correspond by what they run and by their order; locks by name or by the code that takes
// them most, and by the order of their first use. The i-th section of n is near the (i * m / n)-th of m, within one
// recording to the nearest in time. Of those near sixteen observed sections that follow each other, the longer ones
// correspond to the longer ones, and to each as many: the same code differs in length when it finds what it looks for
// and when it does not.
//
// Pure function; a sort of the sections of each recording.
#pragma once

#include <cstdint>
#include <vector>

#include "analysis/section_facts.h"

namespace contrafact::analysis {

inline constexpr uint32_t kNoSection = UINT32_MAX;

// For each section of `to`, a section of `from`; or kNoSection: it has no hold, or no section of its lock and code was
// observed. Sections of `from` outside of a window are never matched. `to` may be `from`: then a section that was
// observed is its own counterpart.
std::vector<uint32_t> match_sections(const SectionFacts& to, const SectionFacts& from);

}  // namespace contrafact::analysis
