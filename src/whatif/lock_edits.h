// From improvements of locks to an edit of each critical section.
#pragma once

#include <span>
#include <vector>

#include "base/result.h"
#include "whatif/improvement.h"
#include "whatif/section_edit.h"

namespace contrafact::whatif {

// Parallel to `sections`, which are model::critical_sections(trace). Later improvements change what earlier ones left.
// Errors: an improvement names a section that does not exist, that was never acquired, or whose lock cannot be held, or
// one whose lock an earlier improvement has dropped; or it takes the lock from a wait at a condition.
base::Result<std::vector<SectionEdit>> edits_of(const model::Trace& trace,
                                                std::span<const model::CriticalSection> sections,
                                                std::span<const Improvement> improvements);

}  // namespace contrafact::whatif
