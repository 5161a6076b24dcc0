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
  // `changes`: running_changes of the trace.
  CoreShare(const std::vector<RunningChange>& changes, int64_t begin_ns, uint32_t cores);

  // Where the latest question was: who asks in order of time has its answer nearby.
  using Place = size_t;
  // CPU time of a thread that ran throughout [begin, end).
  int64_t cpu_ns(int64_t begin_ns, int64_t end_ns, Place& place) const {
    if (points_.empty()) return end_ns - begin_ns;
    const int64_t until_begin_ns = cpu_until(begin_ns, place);
    return cpu_until(end_ns, place) - until_begin_ns;
  }

 private:
  // From `time_ns` on a running thread's CPU time grows by `share` a ns; up to there it has grown to `cpu_ns`.
  struct Point {
    int64_t time_ns;
    int64_t cpu_ns;
    double share;
  };
  int64_t cpu_until(int64_t time_ns, Place& place) const;

  std::vector<Point> points_;
};

}  // namespace contrafact::whatif
