#include "whatif/edits/shared_look.h"

#include <algorithm>

namespace contrafact::whatif {

// The first look is time on a core, without the lock: what it waits for is as short as a look.
void shared_look(const model::Trace&, std::span<const model::CriticalSection> sections, const Improvement& improvement,
                 std::vector<SectionEdit>& edits) {
  for (size_t i = 0; i < improvement.sections.size(); ++i) {
    const uint32_t s = improvement.sections[i];
    SectionEdit& edit = edits[s];
    if (improvement.part[i] == 1) {
      edit.mode = SectionEdit::Mode::shared;
    } else {
      edit.look_ns += improvement.look_ns[i];
      if (!improvement.head_ns.empty())
        edit.head_outside_ns = std::clamp<int64_t>(improvement.head_ns[i], 0, sections[s].hold_ns());
    }
  }
}

}  // namespace contrafact::whatif
