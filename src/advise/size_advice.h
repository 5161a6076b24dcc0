// Advice on sizes: of pools whose workers were all occupied, and of the machine if threads waited for a core. Each
// candidate is the smallest size that gains about as much as any, and carries the curve: the gains of other sizes. All
// simulated.
#pragma once

#include "advise/advice.h"

namespace contrafact::advise {

struct SizeAdvices {
  std::vector<Advice> advices;         // that gain something by the simulation
  std::vector<model::PoolId> useless;  // pools that gain nothing by any of the sizes simulated
};

// `sizes_max`: how many sizes of each curve are simulated; if these are few, the first size that gains no more ends the
// curve. REQUIRES: the pricer simulates; sizes_max > 0.
SizeAdvices advise_sizes(const Pricer& pricer, const Shortage& shortage, size_t sizes_max);

}  // namespace contrafact::advise
