// What each critical section of a native trace read and wrote: the union of its segments' access sets (format/event.h,
// `accesses`), whatever other locks were taken in between. Equal ones share one set.
//
// Pure function; linear in the events and in the ranges of the sets that are joined.
#pragma once

#include <span>
#include <vector>

#include "model/critical_sections.h"

namespace contrafact::model {

struct SectionSets {
  // What the section did from its acquisition to the next lock event of its thread, or from the last one to its
  // release. Both are the whole section where it has no lock event inside.
  struct Part {
    uint32_t set = 0;
    int64_t length_ns = 0;
  };

  std::vector<AccessSet> sets;  // ranges: canonical, into `ranges`
  std::vector<AccessRange> ranges;
  std::vector<uint32_t> of_section;  // parallel to the sections
  std::vector<Part> head, tail;      // likewise

  std::span<const AccessRange> ranges_of(uint32_t set) const {
    return std::span(ranges).subspan(sets[set].ranges_begin, sets[set].ranges_end - sets[set].ranges_begin);
  }
  format::SetGap gap_of(uint32_t set) const { return sets[set].gap; }
  bool is_complete(uint32_t set) const { return sets[set].gap == format::SetGap::complete; }
};

// `sections` are critical_sections(trace). A set is complete only if every segment was observed completely; else its
// gap is the first one's, and its ranges are what is known of it. A section that another thread gave up is not
// observed.
SectionSets section_sets(const Trace& trace, std::span<const CriticalSection> sections);

}  // namespace contrafact::model
