// What a block is for, where the recording says so. Pure; a binary search.
#pragma once

#include <algorithm>

#include "model/trace.h"

namespace contrafact::model {

// `block`: a block_begin. Null if it is not known. The trace owns the row.
inline const BlockedOn* blocked_on_at(const Trace& trace, EventIndex block) {
  const auto row = std::ranges::lower_bound(trace.blocked_on, block, {}, &BlockedOn::block);
  return row != trace.blocked_on.end() && row->block == block ? &*row : nullptr;
}

}  // namespace contrafact::model
