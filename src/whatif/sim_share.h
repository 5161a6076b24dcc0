// How much CPU a running thread really got where the kernel did not tell: whenever more threads ran than the recorded
// machine had cores, each is taken to have had its equal share. It is the simulation's own rule turned around, so that
// a recording of a crowded machine, simulated on the same cores, comes out as long as it was.
//
// Immutable after construction; O(n log n) in the changes of running threads, O(log n) a question.
#pragma once

#include <vector>

#include "model/thread_state.h"
#include "model/trace.h"

namespace contrafact::whatif {

// So many more threads run from `time_ns` on, as the events say.
struct RunningChange {
  int64_t time_ns;
  int32_t by;
};

// In order of time. `native`: all threads count, and what they do outside tasks.
std::vector<RunningChange> running_changes(const model::Trace& trace, const std::vector<model::ThreadUse>& uses,
                                           bool native);

class CoreShare {
 public:
  CoreShare() = default;  // everybody had a core of their own
  // `native`: all threads count, and what they do outside tasks.
  CoreShare(const model::Trace& trace, const std::vector<model::ThreadUse>& uses, uint32_t cores, bool native);

  // CPU time of a thread that ran throughout [begin, end).
  int64_t cpu_ns(int64_t begin_ns, int64_t end_ns) const {
    return points_.empty() ? end_ns - begin_ns : cpu_until(end_ns) - cpu_until(begin_ns);
  }

 private:
  // From `time_ns` on a running thread's CPU time grows by `share` a ns; up to there it has grown to `cpu_ns`.
  struct Point {
    int64_t time_ns;
    int64_t cpu_ns;
    double share;
  };
  int64_t cpu_until(int64_t time_ns) const;

  std::vector<Point> points_;
};

}  // namespace contrafact::whatif
