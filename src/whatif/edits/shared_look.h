// shared-look: sections take the lock as readers to look, and those that change something take it alone afterwards, and
// look again.
#pragma once

#include <span>
#include <vector>

#include "whatif/improvement.h"
#include "whatif/section_edit.h"

namespace contrafact::whatif {

void shared_look(const model::Trace& trace, std::span<const model::CriticalSection> sections,
                 const Improvement& improvement, std::vector<SectionEdit>& edits);

}  // namespace contrafact::whatif
