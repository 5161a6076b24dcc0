// What limits a run, in one clause, whether something can be done about it or not. Pure.
#pragma once

#include <string>

#include "advise/headline.h"

namespace contrafact::advise {

// The first of these that holds: pools, cores or locks ran short, each of them (headline.h); threads were blocked for
// what the recorder does not see; mostly one thread works at
// a time; mostly threads wait for what is outside the program, or sleep; else it says that nothing ran short. "pool web
// had all 5 workers occupied for 31 % of the time", "one thread at a time works for 83 % of the time".
std::string limit_of(const Pricer& pricer, const Shortage& shortage);

}  // namespace contrafact::advise
