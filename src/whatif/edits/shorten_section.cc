#include "whatif/edits/shorten_section.h"

#include <algorithm>

namespace contrafact::whatif {

void shorten_section(const model::Trace&, std::span<const model::CriticalSection> sections,
                     const Improvement& improvement, std::vector<SectionEdit>& edits) {
  for (size_t i = 0; i < improvement.sections.size(); ++i) {
    const uint32_t s = improvement.sections[i];
    const int64_t hold_ns = sections[s].hold_ns();
    edits[s].head_outside_ns = std::clamp<int64_t>(improvement.head_ns[i], 0, hold_ns);
    edits[s].tail_outside_ns = std::clamp<int64_t>(improvement.tail_ns[i], 0, hold_ns - edits[s].head_outside_ns);
  }
}

}  // namespace contrafact::whatif
