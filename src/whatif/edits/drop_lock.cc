#include "whatif/edits/drop_lock.h"

namespace contrafact::whatif {

void drop_lock(const model::Trace&, std::span<const model::CriticalSection>, const Improvement& improvement,
               std::vector<SectionEdit>& edits) {
  for (const uint32_t s : improvement.sections) edits[s].mode = SectionEdit::Mode::none;
}

}  // namespace contrafact::whatif
