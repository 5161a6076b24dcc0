// How many requests a second the locks of a JVM's service allow, where the recording has only the waits for them.
//
// Who asks for a lock at a time of his own finds it held as often as it is held (arrivals see time averages). So if each
// request asks for a lock once, and one in five had to wait, the lock is held for a fifth of the time, and five times as
// many requests fill it. Waits that ended while the thread still tried are not recorded, and a request may ask twice: it is
// an estimate.
//
// Pure; O(n log n) in the waits.
#pragma once

#include <cstdint>
#include <vector>

#include "model/facts.h"
#include "model/requests.h"

namespace contrafact::analysis {

struct LockBound {
  model::LockId lock;
  model::ContextId site;      // of its longest wait
  model::ContextId holder_at;  // where the holder was meanwhile; none: not known
  uint64_t waits = 0;          // in the recording
  double held = 0;             // estimated share of the time
  double per_second = 0;       // requests that fill it
};

// The lowest bound first. Locks with few waits are left out; empty where acquisitions were recorded (the simulation knows
// more then). REQUIRES: requests.all is not empty.
std::vector<LockBound> lock_bounds(const model::Facts& facts, const model::Requests& requests);

}  // namespace contrafact::analysis
