#include "model/vm_stops.h"

#include <algorithm>
#include <map>
#include <vector>

#include "base/saturating.h"
#include "model/processes.h"
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
  // `stops`: of the thread's process.
  Cutter(Trace& trace, uint32_t thread, const std::vector<Pause>& stops)
      : trace_(trace), stops_(stops), thread_(thread), walk_(trace, ThreadId(thread)) {
    more_ = walk_.next();
    runs_ = true;
  }

  void run() {
    for (const CpuGap& gap : trace_.cpu[thread_]) {
      advance(gap.out_ns);
      const auto first = std::ranges::upper_bound(stops_, gap.out_ns, {}, &Pause::end_ns);
      const bool meets = first != stops_.end() && first->begin_ns < gap.in_ns;
      if (gap.preempted || !runs_ || !meets || gap.out_ns < first->begin_ns - kReachMaxNs ||
          !is_mostly_stopped(gap, first)) {
        gaps_.push_back(gap);
      } else {
        cut(gap, static_cast<size_t>(first - stops_.begin()));
      }
    }
    trace_.cpu[thread_] = std::move(gaps_);
  }

 private:
  using PauseAt = std::vector<Pause>::const_iterator;
  bool is_mostly_stopped(const CpuGap& gap, PauseAt pause) const {
    int64_t besides_ns = base::add_saturated(gap.in_ns, -gap.out_ns);
    for (size_t stops = 0; pause != stops_.end() && pause->begin_ns < gap.in_ns; ++pause) {
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
    for (; pause < stops_.size() && stops_[pause].begin_ns < gap.in_ns; ++pause) {
      add(at_ns, std::max(at_ns, stops_[pause].begin_ns), true);
      at_ns = std::max(at_ns, stops_[pause].begin_ns);
      add(at_ns, std::min(gap.in_ns, stops_[pause].end_ns), false);
      at_ns = std::max(at_ns, std::min(gap.in_ns, stops_[pause].end_ns));
    }
    add(at_ns, gap.in_ns, true);
  }

  void add(int64_t begin_ns, int64_t end_ns, bool preempted) {
    if (end_ns > begin_ns) gaps_.push_back({begin_ns, end_ns, preempted});
  }

  Trace& trace_;
  const std::vector<Pause>& stops_;
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
  std::map<uint32_t, std::vector<Pause>> stops;  // by process
  for (const Pause& pause : trace.pauses) stops[process_of(trace, pause.thread)].push_back(pause);
  const auto overlaps = [](const Pause& x, const Pause& y) { return y.begin_ns < x.end_ns; };
  std::erase_if(stops, [&](const auto& of_one) {
    return std::ranges::adjacent_find(of_one.second, overlaps) != of_one.second.end();
  });
  if (stops.empty()) return;
  for (uint32_t thread = 0; thread < trace.cpu.size() && thread < trace.threads.size(); ++thread) {
    const auto of_thread = stops.find(process_of(trace, ThreadId(thread)));
    if (of_thread != stops.end() && !trace.cpu[thread].empty()) Cutter(trace, thread, of_thread->second).run();
  }
}

}  // namespace contrafact::model
