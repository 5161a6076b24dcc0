#include "whatif/edits/reader_writer_lock.h"

namespace contrafact::whatif {

void reader_writer_lock(const model::Trace&, std::span<const model::CriticalSection>, const Improvement& improvement,
                        std::vector<SectionEdit>& edits) {
  for (const uint32_t s : improvement.sections) edits[s].mode = SectionEdit::Mode::shared;
}

}  // namespace contrafact::whatif
