// How many workers a pool can really have, which its two configured sizes alone do not say.
#pragma once

#include <algorithm>

#include "model/trace.h"

namespace contrafact::model {

inline constexpr uint32_t kUnboundedPool = UINT32_MAX;

// `workers_seen`: most workers that the run showed. A ThreadPoolExecutor grows beyond its core size only when its queue
// is full, which the usual unbounded queue never is: so its size is the core size unless more workers were seen, or the
// core size is 0 (the cached pools). A pool of which nothing is known has no more workers than were seen. Scheduled
// pools keep to their core size. So do fork-join pools (the parallelism): where more workers were seen, some were
// blocked, and others compensated for them.
inline uint32_t pool_capacity(const format::PoolRow& pool, uint32_t workers_seen) {
  constexpr uint32_t kJavaIntMax = 0x7fffffff;  // what "unbounded" looks like when it comes from an int
  const uint32_t max_size = pool.max_size >= kJavaIntMax ? kUnboundedPool : pool.max_size;
  switch (pool.kind) {
    case format::PoolKind::thread_per_task:
      return kUnboundedPool;
    case format::PoolKind::permits:
      return pool.core_size;
    case format::PoolKind::fork_join:
      return pool.core_size == 0 ? kUnboundedPool : pool.core_size;
    case format::PoolKind::thread_pool:
      if (pool.core_size == 0 || workers_seen > pool.core_size) return max_size == 0 ? kUnboundedPool : max_size;
      return pool.core_size;
    case format::PoolKind::other:  // of a framework, or of the program's own: mostly of a fixed, unrecorded size
      if (pool.core_size == 0) return workers_seen == 0 ? kUnboundedPool : workers_seen;
      [[fallthrough]];
    default:
      return pool.core_size == 0 ? kUnboundedPool : std::max(pool.core_size, workers_seen);
  }
}

}  // namespace contrafact::model
