// A hint where hoist-branch finds nothing: tasks of one place that all take the same recorded path, but run for very
// different times. A branch that only calls methods has no event of its own, unless function events were recorded.
#pragma once

#include <string>

#include "improve/task_candidates.h"
#include "model/trace.h"

namespace contrafact::advise {

// The hint for the place whose tasks run longest altogether: "the 120 tasks handed out at ... run for 2 ms to 40 ms on
// one recorded path; ... record with --include 'shop.Feed*' ...". Empty: no such place, or no recording can show more.
std::string branch_hint(const model::Trace& trace, const improve::Candidates& found);

}  // namespace contrafact::advise
