// The memory that each critical section of a native trace read and wrote: the union of its segments' access sets
// (format/event.h, `accesses`), whatever other locks were taken in between. Equal ones share one set.
//
// Pure function; linear in the events and in the ranges of the sets that are joined. One set by itself is not copied.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "model/critical_sections.h"

namespace contrafact::model {

struct SectionSets {
  // The time up to an `accesses` event, from the event before or from the segment's begin. A segment's last part ends
  // with the segment.
  struct Part {
    uint32_t set = 0;
    uint32_t end = kNoCut;  // of `cuts`
    int64_t length_ns = 0;
  };
  static constexpr uint32_t kNoCut = UINT32_MAX;
  // Where a part ends and the next begins: before a call of the section's function, or of a caller of that, or after
  // it.
  struct Cut {
    std::string call;  // "Feed::load (feed.cc:41)"
    bool is_after = false;
    bool operator==(const Cut&) const = default;
  };
  struct PartRange {
    uint32_t begin = 0, end = 0;
  };

  std::vector<AccessSet> sets;  // their ranges are in `ranges`
  AccessRanges ranges;
  std::vector<uint32_t> of_section;  // parallel to the sections
  std::vector<Part> parts;           // of one segment next to each other
  std::vector<Cut> cuts;
  // Parallel to the sections: the segment from a section's acquisition to the next lock event of its thread, and that
  // from the last one to its release. Both are the whole section where it has no lock event inside.
  std::vector<PartRange> head, tail;

  AccessRanges::View ranges_of(uint32_t set) const { return ranges.of(sets[set].ranges); }
  std::span<const Part> parts_of(PartRange range) const {
    return std::span(parts).subspan(range.begin, range.end - range.begin);
  }
  format::SetGap gap_of(uint32_t set) const { return sets[set].gap; }
  bool is_complete(uint32_t set) const { return sets[set].gap == format::SetGap::complete; }
};

// `sections` are critical_sections(trace). A set is complete only if every segment was observed completely. Otherwise
// its gap is that of the first incomplete segment, and it holds the ranges that are known. A section that another
// thread released is not observed. A section that a hole in the file, or the file's early end, has cut lacks something
// (gap `lost`).
SectionSets section_sets(const Trace& trace, std::span<const CriticalSection> sections);

}  // namespace contrafact::model
