// Finds a critical section's counterpart: the section of another recording that shows what it touched. Both have the
// same lock, the same code asks for them, and if possible they are of the same thread. Both end in a wait at a
// condition, or neither does.
//
// Threads of two recordings correspond by what they run and by their order; locks by name or by the code that takes
// them most, and by the order of their first use. The i-th section of n is near the (i * m / n)-th of m; within one
// recording, it is near the observed one nearest in time. Sections near the same sixteen consecutive observed ones are
// matched by length: the longer to the longer, and as many to each. The reason: the same code takes another time when
// it finds what it looks for than when it does not.
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
// The same where `observed` says, by section of `from`, which ones show what is asked for.
std::vector<uint32_t> match_sections(const SectionFacts& to, const SectionFacts& from,
                                     const std::vector<bool>& observed);

// What of `from` corresponds to each lock and site of `to`; kNoSection: nothing does.
struct Correspondence {
  std::vector<uint32_t> locks, sites;
};
Correspondence correspondence(const SectionFacts& to, const SectionFacts& from);

}  // namespace contrafact::analysis
