// Sections that begin later and end earlier: what needs no exclusion is done outside.
#pragma once

#include <span>
#include <vector>

#include "whatif/improvement.h"
#include "whatif/section_edit.h"

namespace contrafact::whatif {

// REQUIRES: `edits` is parallel to `sections`, and the improvement's sections can be edited (lock_edits.cc).
void shorten_section(const model::Trace& trace, std::span<const model::CriticalSection> sections,
                     const Improvement& improvement, std::vector<SectionEdit>& edits);

}  // namespace contrafact::whatif
