// Starvation of pools: every worker of a pool waits for a task's result, and none of these tasks can run, since they
// stand in the queues of pools whose workers all wait so. None of the program's tasks goes on until something else ends
// the starvation: a wait's time-out, an interrupt, or a kill of the program. Also reported: how near a run came to
// starvation.
//
// It looks at pools of known size, and at waits for results of tasks. A fork-join pool compensates for a worker that
// waits, where its library knows of the wait, and pools without a bound get one more worker: neither starves. Waits for
// a latch or a queue do not count.
//
// Pure function. O(n log n) in the waits of the pools that wait for each other, linear in the events else.
//
// Invariants
//  1. `waits` of a starvation add up to its workers, and each names a task that stood in a queue or waited itself.
//  2. A risk's `waiting` is less than its `size`, and there is none for pools that starved.
#pragma once

#include <string_view>
#include <vector>

#include "model/facts.h"

namespace contrafact::analysis {

// What ended a starvation.
enum class StarvationEnd : uint8_t { nothing, time_out, interrupt, cancellation, another_thread };
std::string_view name_of(StarvationEnd end);  // "nothing", "time-out", ...

// Workers that wait alike.
struct StarvedWait {
  model::PoolId pool;        // whose workers wait
  model::MethodId body;      // of the task that waits
  model::ContextId context;  // where
  model::MethodId awaited;   // the body of the task waited for; none: a future of several tasks
  uint32_t workers = 0;
};

struct Starvation {
  std::vector<model::PoolId> pools;  // more than one: each waits for tasks in another's queue
  uint32_t workers = 0;              // of these pools, all of them
  uint64_t queued = 0;               // tasks in their queues at the end of it
  int64_t begin_ns = 0, end_ns = 0;
  StarvationEnd end = StarvationEnd::nothing;
  std::vector<StarvedWait> waits;  // most workers first
  uint64_t times = 1;              // how often these pools starved; all else is of the longest time
};

// A risk: many of a pool's workers waited at once, some of them for tasks in its queue (or in the queue of a pool that
// waits for this one), so that few were left to run these tasks.
struct StarvationRisk {
  model::PoolId pool;
  uint32_t size = 0;
  uint32_t waiting = 0;  // at most, at once
  int64_t at_ns = 0;     // for the first time
  int64_t time_ns = 0;   // altogether
  StarvedWait wait;      // one of those that waited then for a task in the queue
};

struct Starvations {
  std::vector<Starvation> starved;    // those that nothing ended first, then the longest
  std::vector<StarvationRisk> risks;  // by pool
};

Starvations starvations(const model::Facts& facts);

}  // namespace contrafact::analysis
