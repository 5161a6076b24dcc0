// How many requests a second the locks of a JVM's service allow, where the recording has only the waits for them.
//
// A lock is a queue with one server. How many threads wait for it on average (the sum of their waits over the time, by
// Little's law) says how much of the time it is held: of holds that vary as exponential times do, asked for at random
// times, rho * rho / (1 - rho) threads wait; of holds of equal length half as many. If the lock is held for a fifth of the
// time, five times as many requests fill it. Waits that ended while the thread still tried are not recorded: it is an
// estimate. While the holder lacks a core, a wait does not count. Only waits within a request's work or a task count: a
// thread that hands requests out waits for whoever has just woken it, which is no chance.
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
  model::ContextId site;       // of its longest wait
  model::ContextId holder_at;  // where the holder was meanwhile; none: not known
  uint64_t waits = 0;          // in the recording
  double held = 0;             // estimated share of the time
  double per_second = 0;       // requests that fill it
  double low_per_second = 0;   // if holds were of equal length
};

// The lowest bound first. Locks with few waits are left out; empty where acquisitions were recorded (the simulation knows
// more then). REQUIRES: requests.all is not empty.
std::vector<LockBound> lock_bounds(const model::Facts& facts, const model::Requests& requests);

}  // namespace contrafact::analysis
