// What limits a run, in one clause, whether something can be done about it or not. Pure.
#pragma once

#include <string>

#include "advise/headline.h"

namespace contrafact::advise {

// Names each shortage of pools, cores or locks (headline.h): "pool web had all 5 workers occupied for 31 % of the
// time". Where there is none, it says that one thread at a time mostly works, or that all threads mostly wait for
// something outside the program or sleep. For a native program it adds for how long threads were blocked for something
// that the recorder does not see. If none of this holds, it says that nothing ran short.
std::string limit_of(const Pricer& pricer, const Shortage& shortage);

}  // namespace contrafact::advise
