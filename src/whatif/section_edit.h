// What a source change makes of one critical section: the common language of the code that finds improvements of locks
// and the code that prices them (by simulation, re-timing, replay). Plain data.
//
// A set of edits is a vector parallel to model::critical_sections(trace): edits[i] is what becomes of sections[i]. An
// empty vector changes nothing. Sections without a hold (waits at conditions, barriers, semaphores; acquisitions that
// failed) are never looked at: leave them as they are.
//
// The two sections around a wait at a condition are one hold to the program: give them the same lock, and no mode
// `none`, or the wait has no mutex to release.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "model/critical_sections.h"

namespace contrafact::whatif {

struct SectionEdit {
  enum class Mode : uint8_t {
    exclusive,
    shared,  // a reader: excludes exclusive sections only
    none,    // takes no lock at all; its work stays
  };
  static constexpr uint32_t kNoLock = UINT32_MAX, kAllLocks = UINT32_MAX - 1;
  // A row of trace.locks, or any number from trace.locks.size() on: a new sub-lock, of the kind of the section's
  // recorded lock. Equal numbers are one lock.
  uint32_t lock = kNoLock;
  Mode mode = Mode::exclusive;
  // Time of the hold, on a core or paused, that happens outside now: its first `head_outside_ns` before the
  // acquisition, its last `tail_outside_ns` after the release. Clamped to the length of the hold.
  int64_t head_outside_ns = 0;
  int64_t tail_outside_ns = 0;
  int64_t look_ns = 0;  // additional time on a core, before the acquisition
  // A second lock that the section holds as long; kAllLocks: all locks that sections of the same recorded lock take. A
  // section acquires several locks in order of number.
  uint32_t also = kNoLock;

  bool operator==(const SectionEdit&) const = default;
};

// The edit that changes nothing.
inline SectionEdit unedited(const model::CriticalSection& section) {
  return {section.lock.value, section.shared ? SectionEdit::Mode::shared : SectionEdit::Mode::exclusive, 0, 0};
}

inline std::vector<SectionEdit> unedited(std::span<const model::CriticalSection> sections) {
  std::vector<SectionEdit> edits;
  edits.reserve(sections.size());
  for (const model::CriticalSection& section : sections) edits.push_back(unedited(section));
  return edits;
}

}  // namespace contrafact::whatif
