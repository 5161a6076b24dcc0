// Critical sections that overlap: of one lock, in different threads, from the request of each to its release (FlowProf,
// footnote 7). Where one of two that exclude each other waited, they overlap.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "analysis/section_facts.h"

namespace contrafact::analysis {

// `first` acquired the lock before `second`; and the part of the wait of `second` that lies in the hold of `first`.
struct SectionOverlap {
  uint32_t first = 0;
  uint32_t second = 0;
  int64_t wait_ns = 0;
};

// Calls `visit` with each pair that overlaps, in the order of the second section, the nearest first section first; not
// with two readers. Of what a section overlaps, the nearest kOverlapsMax sections before it are looked at: so a thread
// that waited for a million others costs no more than those.
inline constexpr size_t kOverlapsMax = 256;

template <typename Visit>
void each_overlap(const SectionFacts& facts, Visit visit) {
  const auto& sections = facts.sections;
  const auto holds = [&](uint32_t s) {
    return sections[s].outcome == model::Outcome::normal &&
           model::is_held(facts.trace->locks[sections[s].lock.index()].kind);
  };
  std::vector<int64_t> latest_ns(sections.size());  // by section: the last release of those of its lock up to it
  for (uint32_t s = 0, begin = 0; s < sections.size(); ++s) {
    if (sections[begin].lock != sections[s].lock) begin = s;
    latest_ns[s] = std::max(s > begin ? latest_ns[s - 1] : INT64_MIN, holds(s) ? sections[s].release_ns : INT64_MIN);
    if (!holds(s)) continue;
    size_t looked = 0;
    for (uint32_t first = s; first > begin && latest_ns[first - 1] > sections[s].request_ns; ++looked) {
      --first;
      if (looked == kOverlapsMax) break;
      const model::CriticalSection &before = sections[first], &section = sections[s];
      if (!holds(first) || before.thread == section.thread || (before.shared && section.shared)) continue;
      if (before.release_ns <= section.request_ns) continue;
      const int64_t wait_ns =
          std::min(section.acquire_ns, before.release_ns) - std::max(section.request_ns, before.acquire_ns);
      visit(SectionOverlap{first, s, std::max<int64_t>(0, wait_ns)});
    }
  }
}

}  // namespace contrafact::analysis
