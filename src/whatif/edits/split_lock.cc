#include "whatif/edits/split_lock.h"

#include <algorithm>
#include <map>

namespace contrafact::whatif {

void split_lock(const model::Trace& trace, std::span<const model::CriticalSection>, const Improvement& improvement,
                std::vector<SectionEdit>& edits) {
  auto next = static_cast<uint32_t>(trace.locks.size());
  for (const SectionEdit& edit : edits) {
    if (edit.lock != UINT32_MAX) next = std::max(next, edit.lock + 1);
  }
  std::map<std::pair<uint32_t, uint32_t>, uint32_t> part_of;  // by the lock and the part of it: the new lock
  for (size_t i = 0; i < improvement.sections.size(); ++i) {
    if (improvement.part[i] == 0) continue;
    SectionEdit& edit = edits[improvement.sections[i]];
    const auto [made, added] = part_of.try_emplace({edit.lock, improvement.part[i]}, next);
    next += added;
    edit.lock = made->second;
  }
}

}  // namespace contrafact::whatif
