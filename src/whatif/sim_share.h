// How much CPU time a running thread got where the kernel did not report it. Whenever more threads ran than the
// recorded machine had cores, each is assumed to have got an equal share. This is the simulation's own rule reversed,
// so that a recording of a crowded machine, simulated on the same cores, takes as long as recorded.
//
// Immutable after construction; O(n log n) in the changes of running threads, O(log n) a question.
#pragma once

#include <vector>

#include "model/thread_state.h"
#include "model/trace.h"

namespace contrafact::whatif {

// The change, at `time_ns`, of the number of running threads, from the events.
struct RunningChange {
  int64_t time_ns;
  int32_t by;
};

// In order of time. `all_threads`: all of them count, also outside tasks (SimConventions::all_threads_count).
std::vector<RunningChange> running_changes(const model::Trace& trace, const std::vector<model::ThreadUse>& uses,
                                           bool all_threads);

class CoreShare {
 public:
  CoreShare() = default;  // every thread had a core of its own
  // `changes`: running_changes of the trace.
  CoreShare(const std::vector<RunningChange>& changes, int64_t begin_ns, uint32_t cores);

  // The position of the latest question: a caller that asks in order of time finds the next answer nearby.
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
