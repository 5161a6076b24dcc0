#include "whatif/edits/shared_look.h"

namespace contrafact::whatif {

// The first look is time on a core, without the lock: what it waits for is as short as a look.
void shared_look(const model::Trace&, std::span<const model::CriticalSection>, const Improvement& improvement,
                 std::vector<SectionEdit>& edits) {
  for (size_t i = 0; i < improvement.sections.size(); ++i) {
    SectionEdit& edit = edits[improvement.sections[i]];
    if (improvement.part[i] == 1) {
      edit.mode = SectionEdit::Mode::shared;
    } else {
      edit.look_ns += improvement.look_ns[i];
    }
  }
}

}  // namespace contrafact::whatif
