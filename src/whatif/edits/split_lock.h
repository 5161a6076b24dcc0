// Sections that take a lock of their own part, or of two, instead of one for all.
#pragma once

#include <span>
#include <vector>

#include "whatif/improvement.h"
#include "whatif/section_edit.h"

namespace contrafact::whatif {

// REQUIRES: `edits` is parallel to `sections`, and the improvement's sections can be edited (lock_edits.cc).
void split_lock(const model::Trace& trace, std::span<const model::CriticalSection> sections,
                const Improvement& improvement, std::vector<SectionEdit>& edits);

}  // namespace contrafact::whatif
