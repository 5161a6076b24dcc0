// Improvements of tasks, each by itself: estimated, the best of them simulated, and judged.
#pragma once

#include "advise/advice.h"

namespace contrafact::advise {

// One advice for each candidate, in their order; one that cannot be estimated says why. REQUIRES: `advices` has base,
// baseline and headline. Sets `advices.screened`.
std::vector<Advice> advise_tasks(const Engines& engines, const improve::Candidates& found, Advices& advices,
                                 const AdviceOptions& options);

// Advice is about code that its reader can edit. So tasks become ineligible if no frame of the program is known where
// they are handed out. An exception: a coordinator whose body is the program's is edited there.
void leave_out_others_code(const model::Trace& trace, improve::Candidates& found);

}  // namespace contrafact::advise
