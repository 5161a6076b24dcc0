#include "whatif/edits/split_lock.h"

#include <algorithm>
#include <map>

namespace contrafact::whatif {

void split_lock(const model::Trace& trace, std::span<const model::CriticalSection>, const Improvement& improvement,
                std::vector<SectionEdit>& edits) {
  auto next = static_cast<uint32_t>(trace.locks.size());
  for (const SectionEdit& edit : edits) {
    if (edit.lock != SectionEdit::kNoLock) next = std::max(next, edit.lock + 1);
    if (edit.also < SectionEdit::kAllLocks) next = std::max(next, edit.also + 1);
  }
  std::map<std::pair<uint32_t, uint32_t>, uint32_t> part_of;  // by the lock and the part of it: the new lock
  const auto lock_of = [&](uint32_t lock, uint32_t part) {
    if (part == 0) return lock;
    const auto [made, added] = part_of.try_emplace({lock, part}, next);
    next += added;
    return made->second;
  };
  for (size_t i = 0; i < improvement.sections.size(); ++i) {
    SectionEdit& edit = edits[improvement.sections[i]];
    const uint32_t before = edit.lock;
    edit.lock = lock_of(before, improvement.part[i]);
    if (improvement.also_part.empty() || improvement.also_part[i] == improvement.part[i]) continue;
    edit.also = improvement.also_part[i] == Improvement::kAllParts ? SectionEdit::kAllLocks
                                                                   : lock_of(before, improvement.also_part[i]);
  }
}

}  // namespace contrafact::whatif
