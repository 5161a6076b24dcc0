// What a lock would be waited for if what all of its sections change were divided as well: a list by last use, a
// counter, the memory of a connection. A split of the lock by the objects that there would be without those bytes; or,
// where there are no such, an object for each thread. It is a redesign, and never advised: whether results may come
// from a part of the data alone, no recording shows. A lock that nothing else helps gets it beside the reason for that.
//
// Pure function, linear in the sections.
#pragma once

#include <string>

#include "improve/lock_objects.h"

namespace contrafact::improve {

// REQUIRES: `objects` are those of the lock, and none: their count is 0.
Candidate divided_data(const LockUses& uses, model::LockId lock, const LockObjects& objects);

// What is to be divided, and what has to be true for it: a clause. `candidate`: of divided_data().
std::string redesign_words(const Candidate& candidate);

}  // namespace contrafact::improve
