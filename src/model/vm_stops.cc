#include "model/vm_stops.h"

#include <algorithm>

#include "base/saturating.h"
#include "model/task_walk.h"

namespace contrafact::model {
namespace {

// How long a stop may take to come about: a scheduling period or two of the last thread that must reach its stopping
// point, 3 to 14 ms on two cores with four busy threads. A thread that left its core earlier slept for a reason of its
// own.
constexpr int64_t kReachMaxNs = 25'000'000;
// How long a thread that was stopped may be off its core besides the stops: it waits for a core then. A thread that is
// off its core for longer slept.
constexpr int64_t kWaitMaxNs = 100'000'000;
constexpr size_t kStopsMax = 16;  // within one gap

class Cutter {
 public:
  Cutter(Trace& trace, uint32_t thread) : trace_(trace), thread_(thread), walk_(trace, ThreadId(thread)) {
    more_ = walk_.next();
    runs_ = true;
  }

  void run() {
    for (const CpuGap& gap : trace_.cpu[thread_]) {
      advance(gap.out_ns);
      const auto first = std::ranges::upper_bound(trace_.pauses, gap.out_ns, {}, &Pause::end_ns);
      const bool meets = first != trace_.pauses.end() && first->begin_ns < gap.in_ns;
      if (gap.preempted || !runs_ || !meets || gap.out_ns < first->begin_ns - kReachMaxNs ||
          !is_mostly_stopped(gap, first)) {
        gaps_.push_back(gap);
      } else {
        cut(gap, static_cast<size_t>(first - trace_.pauses.begin()));
      }
    }
    trace_.cpu[thread_] = std::move(gaps_);
  }

 private:
  using PauseAt = std::vector<Pause>::const_iterator;
  bool is_mostly_stopped(const CpuGap& gap, PauseAt pause) const {
    int64_t besides_ns = base::add_saturated(gap.in_ns, -gap.out_ns);
    for (size_t stops = 0; pause != trace_.pauses.end() && pause->begin_ns < gap.in_ns; ++pause) {
      if (++stops > kStopsMax) return false;
      besides_ns -= std::min(gap.in_ns, pause->end_ns) - std::max(gap.out_ns, pause->begin_ns);
    }
    return besides_ns <= kWaitMaxNs;
  }

  // Moves to the state after all events up to `time_ns`.
  void advance(int64_t time_ns) {
    while (more_ && walk_.time_ns() <= time_ns) {
      runs_ = walk_.stack().empty() || walk_.in(FrameKind::task);
      more_ = walk_.next();
    }
  }

  void cut(const CpuGap& gap, size_t pause) {
    int64_t at_ns = gap.out_ns;
    for (; pause < trace_.pauses.size() && trace_.pauses[pause].begin_ns < gap.in_ns; ++pause) {
      add(at_ns, std::max(at_ns, trace_.pauses[pause].begin_ns), true);
      at_ns = std::max(at_ns, trace_.pauses[pause].begin_ns);
      add(at_ns, std::min(gap.in_ns, trace_.pauses[pause].end_ns), false);
      at_ns = std::max(at_ns, std::min(gap.in_ns, trace_.pauses[pause].end_ns));
    }
    add(at_ns, gap.in_ns, true);
  }

  void add(int64_t begin_ns, int64_t end_ns, bool preempted) {
    if (end_ns > begin_ns) gaps_.push_back({begin_ns, end_ns, preempted});
  }

  Trace& trace_;
  const uint32_t thread_;
  TaskWalk walk_;
  bool more_, runs_;
  std::vector<CpuGap> gaps_;
};

}  // namespace

bool is_stop(const CpuGap& gap, const Pause& pause) {
  return !gap.preempted && pause.begin_ns <= gap.out_ns && gap.in_ns <= pause.end_ns;
}

void cut_stops(Trace& trace) {
  const auto overlaps = [](const Pause& x, const Pause& y) { return y.begin_ns < x.end_ns; };
  const bool sane = std::ranges::adjacent_find(trace.pauses, overlaps) == trace.pauses.end();
  if (trace.pauses.empty() || !sane) return;
  for (uint32_t thread = 0; thread < trace.cpu.size() && thread < trace.threads.size(); ++thread) {
    if (!trace.cpu[thread].empty()) Cutter(trace, thread).run();
  }
}

}  // namespace contrafact::model
