// From improvements of locks to an edit of each critical section.
#pragma once

#include <span>
#include <vector>

#include "base/result.h"
#include "whatif/improvement.h"
#include "whatif/section_edit.h"

namespace contrafact::whatif {

// The result is parallel to `sections`, which are model::critical_sections(trace). Later improvements change what
// earlier ones left. Errors: a section does not exist, was never acquired, or has a lock that cannot be held; an
// earlier improvement has dropped its lock; or an improvement takes the lock from a wait at a condition.
base::Result<std::vector<SectionEdit>> edits_of(const model::Trace& trace,
                                                std::span<const model::CriticalSection> sections,
                                                std::span<const Improvement> improvements);

}  // namespace contrafact::whatif
