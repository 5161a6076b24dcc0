// Which locks each critical section takes after edits, in the order in which it takes them: ascending, so that no two
// sections that take several wait for each other. A section releases its locks together.
//
// The arguments must outlive it. Immutable; may be shared between threads.
#pragma once

#include <algorithm>
#include <span>
#include <vector>

#include "whatif/section_edit.h"

namespace contrafact::whatif {

class SectionLocks {
 public:
  // `edits`: parallel to `sections`.
  SectionLocks(std::span<const model::CriticalSection> sections, std::span<const SectionEdit> edits)
      : sections_(sections), edits_(edits) {
    const auto takes_all = [](const SectionEdit& edit) { return edit.also == SectionEdit::kAllLocks; };
    if (std::ranges::any_of(edits, takes_all)) list_all();
  }

  // REQUIRES: section `s` takes a lock at all.
  template <typename Visit>
  void each(uint32_t s, Visit visit) const {
    const SectionEdit& edit = edits_[s];
    if (edit.also == SectionEdit::kAllLocks) {
      std::ranges::for_each(made_from_[sections_[s].lock.index()], visit);
      return;
    }
    visit(std::min(edit.lock, edit.also));
    if (edit.also != SectionEdit::kNoLock && edit.also != edit.lock) visit(std::max(edit.lock, edit.also));
  }

 private:
  void list_all() {
    for (size_t s = 0; s < sections_.size(); ++s) {
      const size_t lock = sections_[s].lock.index();
      if (edits_[s].mode == SectionEdit::Mode::none) continue;
      if (made_from_.size() <= lock) made_from_.resize(lock + 1);
      made_from_[lock].push_back(edits_[s].lock);
      if (edits_[s].also < SectionEdit::kAllLocks) made_from_[lock].push_back(edits_[s].also);
    }
    for (std::vector<uint32_t>& locks : made_from_) {
      std::ranges::sort(locks);
      const auto twice = std::ranges::unique(locks);
      locks.erase(twice.begin(), twice.end());
    }
  }

  std::span<const model::CriticalSection> sections_;
  std::span<const SectionEdit> edits_;
  std::vector<std::vector<uint32_t>> made_from_;  // by recorded lock: all locks of its sections; empty: none takes all
};

}  // namespace contrafact::whatif
