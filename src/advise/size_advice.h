// Sizes: of pools all whose workers were occupied, and of the machine where threads waited for a core. Each candidate
// is the smallest size that gains about as much as any; the curve of the others is with it. Simulated.
#pragma once

#include "advise/advice.h"

namespace contrafact::advise {

// Those that gain something by the simulation. REQUIRES: the pricer simulates.
std::vector<Advice> advise_sizes(const Pricer& pricer, const Shortage& shortage);

}  // namespace contrafact::advise
