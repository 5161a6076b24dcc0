// How much of its cores' time other programs used: time during which the program's threads were preempted, although
// fewer of them ran than there were cores. This is a lower bound: other programs may have used more, but no thread of
// the recorded program waited for that time.
//
// A thread's preemption thus has two parts. During the first part, the program's own threads used the cores: in a
// changed program, other threads may wait for other threads. The same holds while another core idles: a thread waits in
// the run queue of the core that it lost, and the system moves it to an idle core only now and then. (As long as this
// time was attributed to other programs, a third of a crowded lock's gain was missed.) The order of the switches shows
// which thread took the core: a thread that came onto a core within kSwitchMax of another thread's leaving took that
// thread's core. During the second part, other programs used the cores: this time is lost whichever thread is preempted
// for it. It is divided equally among the threads that were preempted at the time, so that the sum over threads is the
// time that the cores lost.
//
// The virtual machine's own threads, where the recorder saw them, count as the program's.
//
// Where the recorder saw how long cores were idle, more is known: a core that neither idles nor runs one of the
// program's threads is used by another program. So a thread that waits behind another thread of its own program lost a
// core to other programs, if these used the core that was left. (Beside a program that computed on both of two cores,
// two threads shared one core for a third of a run. As long as that wait was attributed to the threads themselves, the
// unchanged run was simulated 14 to 25 % too short.)
//
// While the virtual machine stops the program, no other program takes cores from it: it wants none.
//
// Immutable after construction; O(n log n) in the context switches, O(log n) a question.
#pragma once

#include <cstdint>
#include <vector>

#include "model/trace.h"

namespace contrafact::model {

class ForeignCores {
 public:
  ForeignCores() = default;  // nothing is known: no other program used a core
  ForeignCores(const Trace& trace, uint32_t cores);

  // Core time lost to other programs, for a thread that was preempted throughout [begin, end).
  int64_t lost_ns(int64_t begin_ns, int64_t end_ns) const {
    return points_.empty() ? 0 : lost_until(end_ns) - lost_until(begin_ns);
  }
  // How many cores other programs used in [begin, end), on average: all that the program's own threads did not use
  // while one of them was without a core.
  double cores(int64_t begin_ns, int64_t end_ns) const;
  // The core time that all threads together lost to other programs over the run.
  int64_t total_ns() const { return total_ns_; }

 private:
  // From `time_ns` on a preempted thread's part grows by `share` a ns; up to there it has grown to `lost_ns`.
  struct Point {
    int64_t time_ns;
    double lost_ns;
    double share;
    double had_ns = 0;  // used by other programs, on all cores
    double had = 0;     // `had_ns` grows by this a ns
  };
  const Point* point_before(int64_t time_ns) const;
  int64_t lost_until(int64_t time_ns) const;

  std::vector<Point> points_;
  int64_t total_ns_ = 0;
};

}  // namespace contrafact::model
