// What limits a run, in one clause, whether something can be done about it or not. Pure.
#pragma once

#include <string>

#include "advise/headline.h"

namespace contrafact::advise {

// What ran short, pools, cores or locks, each of them (headline.h); where nothing did, that mostly one thread works at
// a time, or mostly threads wait for what is outside the program, or sleep. Then, of a native program, for how long
// threads were blocked for something that the recorder does not see; and if there is nothing of all this, that nothing
// ran short. "pool web had all 5 workers occupied for 31 % of the time", "one thread at a time works for 83 % of the
// time".
std::string limit_of(const Pricer& pricer, const Shortage& shortage);

}  // namespace contrafact::advise
