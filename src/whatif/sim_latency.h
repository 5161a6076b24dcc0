// The recorded run's typical hand-over times. Medians, because single ones contain waiting for a core, which the
// simulation adds by itself.
//
// Pure; linear in the events but for the sort of wakes.
#pragma once

#include <vector>

#include "model/thread_state.h"
#include "model/trace.h"

namespace contrafact::whatif {

struct PoolLatency {
  int64_t fresh_ns = 0;       // spawn to start where the pool had to create the worker
  int64_t idle_ns = 0;        // spawn to start where a worker was idle
  int64_t turnaround_ns = 0;  // end of a task to start of the next on the same worker, the queue not being empty
};

struct Latencies {
  std::vector<PoolLatency> pools;
  int64_t wait_ns = 0;    // completion to return from a wait that slept
  int64_t thread_ns = 0;  // Thread.start to the beginning of the run
  int64_t token_ns = 0;   // wake to return from the block
};

Latencies measure_latencies(const model::Trace& trace, const std::vector<model::ThreadUse>& uses);

// When the task's result is there: its complete, else its end; INT64_MAX if never.
int64_t completion_ns(const model::Trace& trace, model::TaskId task);

}  // namespace contrafact::whatif
