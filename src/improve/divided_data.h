// How long a lock would be waited for if the data that all of its sections change were divided, too: a list by last
// use, a counter, the memory of a connection. The lock is split by the objects that there would be without the bytes of
// that data; or, if there are no such objects, into one object for each thread. This is a redesign, and never advised,
// because no recording shows whether results may come from a part of the data alone. It is shown beside the reason why
// nothing else helps a lock.
//
// Pure function, linear in the sections.
#pragma once

#include <string>

#include "improve/lock_objects.h"

namespace contrafact::improve {

// REQUIRES: `objects` are those of the lock, and their count is 0.
Candidate divided_data(const LockUses& uses, model::LockId lock, const LockObjects& objects);

// The data to divide, and the condition under which that is correct: a clause. `candidate`: of divided_data().
std::string redesign_words(const Candidate& candidate);

}  // namespace contrafact::improve
