// Locks whose data has parts that no section touches together: each part may have a lock of its own.
#pragma once

#include <vector>

#include "improve/lock_uses.h"

namespace contrafact::improve {

// Adds the split of these locks, or why there is none. REQUIRES: `uses` looks at them.
void add_splits(const LockUses& uses, const std::vector<model::LockId>& locks, Candidates& found);

}  // namespace contrafact::improve
