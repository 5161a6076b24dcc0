// What hoist-branch cannot see: tasks of one place that all take the same path as it was recorded, but differ much in
// how long they run. A branch that only calls methods has no event of its own, unless function events were recorded.
#pragma once

#include <string>

#include "improve/task_candidates.h"
#include "model/trace.h"

namespace contrafact::advise {

// What to do about the place whose tasks run longest altogether: "the 120 tasks handed out at ... run for 2 ms to 40 ms
// on one recorded path; ... record with --include 'shop.Feed*' ...". Empty: no such place, or no recording can tell
// more.
std::string branch_hint(const model::Trace& trace, const improve::Candidates& found);

}  // namespace contrafact::advise
