// How long threads waited for the permits of a semaphore that bounds something: connections, requests in flight.
//
// A semaphore may also serve as a lock (one permit), or for signals (threads give permits that nobody took). Another
// number of permits would then be another program, so such a semaphore has no row.
//
// Pure; O(n log n) in the events that take or give permits.
#pragma once

#include <vector>

#include "model/facts.h"

namespace contrafact::analysis {

struct PermitWaits {
  model::PoolId pool;
  uint32_t permits = 0;      // at least two: those at the first use, or the most that were out at once, if more
  model::ContextId context;  // of the longest wait; none: nobody waited
  uint64_t waits = 0;
  int64_t waited_ns = 0;  // time of the run in which at least one thread waited
};

// In order of the pools, including those without a wait. No row for a semaphore whose permits a thread outside of tasks
// takes or gives.
std::vector<PermitWaits> permit_waits(const model::Facts& facts);

}  // namespace contrafact::analysis
