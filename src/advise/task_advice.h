// Improvements of tasks, each by itself: estimated, the best of them simulated, and judged.
#pragma once

#include "advise/advice.h"

namespace contrafact::advise {

// In the order of the candidates; those that cannot be estimated say why. `advices` has base, baseline and headline,
// and gets `screened`.
std::vector<Advice> advise_tasks(const Engines& engines, const improve::Candidates& found, Advices& advices,
                                 const AdviceOptions& options);

// Advice is about code that its reader can edit. Tasks handed out where no frame of the program is known are therefore
// moved to those without a candidate. A coordinator is edited in its body.
void leave_out_others_code(const model::Trace& trace, improve::Candidates& found);

}  // namespace contrafact::advise
