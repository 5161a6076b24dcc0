// The limit of a run, in one clause, whether it can be removed or not. Pure.
#pragma once

#include <span>
#include <string>

#include "advise/headline.h"

namespace contrafact::advise {

// Example: "pool web had all 5 workers occupied for 31 % of the time". The clause names the lock of a JVM's program
// that threads waited for during much of the run, then each shortage of pools, cores or locks that held the run up
// (headline.h). Of a pool in `useless` it says that more workers gain nothing. Without these, it says that mostly one
// thread at a time works, and which thread; or that all threads mostly sleep or wait for something outside the program,
// and for what they wait longest. For a native program it adds how long threads were blocked for something that the
// recorder does not see. If none of this holds, it says how many threads worked at a time: their computing takes the
// time.
std::string limit_of(const Pricer& pricer, const analysis::ThreadUsage& usage, const Shortage& shortage,
                     std::span<const model::PoolId> useless);

}  // namespace contrafact::advise
