// What others than the recorded program's threads had of its cores: time during which threads were preempted by others,
// although fewer of the program's threads ran than there were cores. At least so much did others use; what they used
// besides, nobody of the program waited for.
//
// A thread's preemption thus has two parts. During one, the program's own threads had the cores: in a changed program
// others may wait for others. That is also so while another core idles, for a thread waits in the queue of the core
// that it lost, and the system moves it to an idle one only now and then (where this was taken for others' doing, a
// third of a crowded lock's gain was missed). Who took the core shows in the order of the switches: a thread that came
// onto a core within kSwitchMax of another's leaving came onto that one. During the other part foreign ones had them:
// that time of a core is gone whoever is preempted for it. It is shared out equally among the threads that were
// preempted at the time, so that the sum over threads is what the cores lost.
//
// The virtual machine's own threads, where the recorder saw them, count as the program's.
//
// Where the recorder saw how long cores were idle, more is known: of the cores that the program's threads do not have,
// others have what is not idle. So a thread that waits behind another of its own program lost a core to others, if they
// had the one that was left. (Beside a program that computes on both of two cores, two threads shared one for a third
// of a run; as long as this was taken for their own doing, the unchanged run was simulated 14 to 25 % too short.)
//
// While the virtual machine stops the program, nobody takes cores from it: it wants none.
//
// Immutable after construction; O(n log n) in the context switches, O(log n) a question.
#pragma once

#include <cstdint>
#include <vector>

#include "model/trace.h"

namespace contrafact::model {

class ForeignCores {
 public:
  ForeignCores() = default;  // nothing is known: nobody else had a core
  ForeignCores(const Trace& trace, uint32_t cores);

  // Of a core, for a thread that was preempted throughout [begin, end).
  int64_t lost_ns(int64_t begin_ns, int64_t end_ns) const {
    return points_.empty() ? 0 : lost_until(end_ns) - lost_until(begin_ns);
  }
  // How many cores others had during it, on average: all that the program's own threads had not, for one of these had
  // none.
  double cores(int64_t begin_ns, int64_t end_ns) const;
  // By all threads together, over the run.
  int64_t total_ns() const { return total_ns_; }

 private:
  // From `time_ns` on a preempted thread's part grows by `share` a ns; up to there it has grown to `lost_ns`.
  struct Point {
    int64_t time_ns;
    double lost_ns;
    double share;
    double had_ns = 0;  // by others, of all cores
    double had = 0;     // grows by this a ns
  };
  const Point* point_before(int64_t time_ns) const;
  int64_t lost_until(int64_t time_ns) const;

  std::vector<Point> points_;
  int64_t total_ns_ = 0;
};

}  // namespace contrafact::model
