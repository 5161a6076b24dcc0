// Throughput head-room (Rehype, section 5): how many concurrent copies of this run a pool could carry. A pool of 20
// whose run takes 13 workers at its peak fits one copy; at a peak of 5 it fits four.
//
// Pure function of the thread use.
#pragma once

#include <optional>
#include <vector>

#include "analysis/thread_usage.h"
#include "model/trace.h"

namespace contrafact::analysis {

struct PoolHeadroom {
  model::PoolId pool;
  uint32_t size = 0;  // most workers it may have; 0: unbounded or unknown
  uint32_t workers_seen = 0;
  uint32_t peak_occupied = 0;
  double mean_occupied = 0;
  double utilisation = 0;                  // mean occupied / size; 0 where size is unknown
  double active_utilisation = 0;           // mean active / size
  int64_t saturated_ns = 0;                // time with every worker occupied
  uint32_t queue_peak = 0;                 // most tasks spawned to it and not yet started
  std::optional<uint32_t> copies_by_peak;  // floor(size / peak); none where size or use is unknown
  std::optional<double> copies_by_mean;    // size / mean
};

// One row for each pool that was given tasks or has workers, in order of id.
std::vector<PoolHeadroom> headroom(const model::Trace& trace, const ThreadUsage& usage);
// The same without `queue_peak`, which takes more time than all else.
std::vector<PoolHeadroom> headroom_of_workers(const model::Trace& trace, const ThreadUsage& usage);

// A pool with too few workers for an estimated run: the run needs more of them at once than the pool has, and more than
// the recorded run needed. The estimate gives a stage its own thread where the stage needs one.
struct OverfullPool {
  model::PoolId pool;
  uint32_t needed = 0;
  uint32_t size = 0;
};
// The first; none: the recorded run's pools can run the estimated one.
std::optional<OverfullPool> overfull_pool(const model::Facts& recorded, const model::Trace& estimated);

}  // namespace contrafact::analysis
