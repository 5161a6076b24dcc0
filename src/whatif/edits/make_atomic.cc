#include "whatif/edits/make_atomic.h"

namespace contrafact::whatif {

// An atomic operation takes tens of nanoseconds where threads meet, as the lock's own word did: it is in what the
// section recorded.
void make_atomic(const model::Trace&, std::span<const model::CriticalSection>, const Improvement& improvement,
                 std::vector<SectionEdit>& edits) {
  for (const uint32_t s : improvement.sections) edits[s].mode = SectionEdit::Mode::none;
}

}  // namespace contrafact::whatif
