// How long threads waited for the permits of a semaphore that bounds something: connections, requests in flight.
//
// A semaphore also serves as a lock (one permit), or for signals (threads give permits that nobody took). Then another number of
// permits is another program, and there is no row.
//
// Pure; O(n log n) in the events that take or give permits.
#pragma once

#include <vector>

#include "model/facts.h"

namespace contrafact::analysis {

struct PermitWaits {
  model::PoolId pool;
  uint32_t permits = 0;      // two at least: as many as it had when it was first used, or as were out at once
  model::ContextId context;  // of the longest wait; none: nobody waited
  uint64_t waits = 0;
  int64_t waited_ns = 0;  // of the run: at least one thread waited
};

// In order of the pools; those without a wait, too. No row where a thread that is no task's deals with the permits.
std::vector<PermitWaits> permit_waits(const model::Facts& facts);

}  // namespace contrafact::analysis
