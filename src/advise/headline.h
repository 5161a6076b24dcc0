// Which of the two models' figures to read first. Decided from the recorded run alone, before any
// improvement is estimated.
//
// The rule: where something ran short in the recorded run, its queue is part of what an improvement changes, and only
// re-dispatch models queues. Otherwise nothing would be handed out differently, and fixed assignment, which keeps more
// of the recording, is the better guess. Short means, during the tasks' window,
//  - a bounded pool had every worker occupied for more than kSaturatedMax of the time, or
//  - threads waited for a permit of a semaphore that bounds something (analysis/permit_waits.h) for as long, or
//  - threads had to wait for a core for more than kOverloadedMax of the time: as the kernel reported; where it did not,
//    more threads were active and not blocked than there are cores, or
//  - one thread spent more than kStartingMax of the time on starting workers of pools. No queue explains this time, but
//    a changed program may not need it: only re-dispatch makes workers anew, or
//  - threads waited for locks, whose holders the trace names, for more than kContendedMax of the time.
// Where the simulation misses its own check (BaselineCheck), its gains are less certain by the missed amount, and the
// reason says so. The estimate knows no queues and is no alternative. Only a simulation that came to no end has no
// figures at all.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "advise/pricer.h"
#include "analysis/thread_usage.h"
#include "model/trace.h"

namespace contrafact::advise {

inline constexpr double kSaturatedMax = 0.01;
inline constexpr double kOverloadedMax = 0.05;
inline constexpr double kContendedMax = 0.01;
inline constexpr double kStartingMax = 0.05;

struct Headline {
  model::Origin model = model::Origin::estimated;  // or simulated
  std::string reason;  // a clause: "pool web had all 5 workers occupied for 31 % of the time"
};

// Over the window of the tasks, or the whole run where there are none.
analysis::ThreadUsage usage_of(const model::Facts& facts);

// The resources that ran short in the recorded run.
struct Shortage {
  struct Pool {
    model::PoolId pool;
    uint32_t size = 0;                // workers or permits
    model::ContextId waited_at = {};  // of permits: where threads waited longest for one
  };
  std::vector<Pool> pools;  // saturated
  uint32_t cores = 0;       // number of cores, if threads waited for one; else 0
  // Clauses, the longest shortage first; empty: none.
  std::vector<std::string> reasons;
  // The shortages that held the run up, with further facts. A pool whose workers were all occupied, but that no task
  // waited for, is not among them.
  struct Limit {
    std::string reason;
    model::PoolId pool = {};  // that is short
  };
  std::vector<Limit> limits;
};
Shortage shortage_of(const Pricer& pricer, const analysis::ThreadUsage& usage);

Headline headline_of(const Pricer& pricer, const Shortage& shortage);

}  // namespace contrafact::advise
