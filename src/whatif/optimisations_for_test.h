// The kinds of changes that tests of the engines make of tasks: each treatment by the name of its simplest
// optimisation.
#pragma once

#include "whatif/optimisation.h"

namespace contrafact::whatif {

inline const Optimisation kInline{"convert-to-inline", Target::tasks, Treatment::inline_at_spawn};
inline const Optimisation kInlineAtWait{"inline-at-wait", Target::tasks, Treatment::inline_at_wait};
inline const Optimisation kCombinator{"convert-to-combinator", Target::tasks, Treatment::combinator};

}  // namespace contrafact::whatif
