#include "model/foreign_cores.h"

#include <algorithm>
#include <cmath>
#include <span>

namespace contrafact::model {
namespace {

// From one thread's leaving a core to the next one's coming onto it: 0.5 to 2 us in recordings. If other programs used
// the core in between, it takes 100 us and more.
constexpr int64_t kSwitchMaxNs = 5'000;

// By how much, at a time, three numbers grew: threads that ran, threads that were preempted, and those preempted by
// others.
struct Change {
  int64_t time_ns;
  int8_t running, preempted, by_others = 0, stops = 0;
};

// Threads' stints on cores, by when they began.
class Stints {
 public:
  explicit Stints(const Trace& trace) {
    for (uint32_t t = 0; t < trace.cpu.size(); ++t) {
      const std::vector<CpuGap>& gaps = trace.cpu[t];
      const EventRange range = trace.thread_events(ThreadId(t));
      for (size_t i = 0; i < gaps.size(); ++i) {
        const bool is_last = i + 1 == gaps.size();
        const int64_t end_ns = !is_last ? gaps[i + 1].out_ns : range.size() == 0 ? 0 : trace.time_ns[range.end - 1];
        if (end_ns > gaps[i].in_ns) stints_.push_back({gaps[i].in_ns, end_ns});
      }
    }
    for (const VmStint& stint : trace.vm_stints) {
      if (stint.end_ns > stint.begin_ns) stints_.push_back({stint.begin_ns, stint.end_ns});
    }
    std::ranges::sort(stints_, {}, &Stint::begin_ns);
  }

  // Until when the program's threads used the core that one of them left at `out_ns`, without a break.
  int64_t taken_until_ns(int64_t out_ns) const {
    for (auto next = from(out_ns); next != stints_.end() && next->begin_ns <= out_ns + kSwitchMaxNs;
         next = from(out_ns)) {
      out_ns = next->end_ns;
    }
    return out_ns;
  }

 private:
  struct Stint {
    int64_t begin_ns, end_ns;
  };

  std::vector<Stint>::const_iterator from(int64_t time_ns) const {
    return std::ranges::lower_bound(stints_, time_ns, {}, &Stint::begin_ns);
  }

  std::vector<Stint> stints_;
};

std::vector<Change> changes_of(const Trace& trace) {
  const Stints stints(trace);
  std::vector<Change> changes;
  for (uint32_t t = 0; t < trace.threads.size(); ++t) {
    const EventRange range = trace.thread_events(ThreadId(t));
    if (range.size() == 0) continue;
    const int64_t begin_ns = trace.time_ns[range.begin], end_ns = trace.time_ns[range.end - 1];
    changes.push_back({begin_ns, 1, 0});
    changes.push_back({end_ns, -1, 0});
    if (t >= trace.cpu.size()) continue;
    for (const CpuGap& gap : trace.cpu[t]) {
      const int64_t out_ns = std::max(gap.out_ns, begin_ns), in_ns = std::min(gap.in_ns, end_ns);
      if (in_ns <= out_ns) continue;
      changes.push_back({out_ns, -1, 0});
      changes.push_back({in_ns, 1, 0});
      if (!gap.preempted) continue;
      changes.push_back({out_ns, 0, 1});
      changes.push_back({in_ns, 0, -1});
      const int64_t lost_ns = stints.taken_until_ns(out_ns);
      // From that thread's leaving to this one's coming back, the core was nobody else's.
      if (lost_ns >= in_ns || (lost_ns > out_ns && in_ns - lost_ns <= kSwitchMaxNs)) continue;
      changes.push_back({lost_ns, 0, 0, 1});
      changes.push_back({in_ns, 0, 0, -1});
    }
  }
  for (const VmStint& stint : trace.vm_stints) {
    if (stint.end_ns <= stint.begin_ns) continue;
    changes.push_back({stint.begin_ns, 1, 0});
    changes.push_back({stint.end_ns, -1, 0});
  }
  for (const Pause& pause : trace.pauses) {
    changes.push_back({pause.begin_ns, 0, 0, 0, 1});
    changes.push_back({pause.end_ns, 0, 0, 0, -1});
  }
  std::ranges::sort(changes, {}, &Change::time_ns);
  return changes;
}

// Of the cores that the program's threads did not use, the share that other programs used: those that were not idle.
class BusyShare {
 public:
  // `changes`: in order of time.
  BusyShare(const Trace& trace, std::span<const Change> changes, uint32_t cores) {
    int64_t running = 0, at_ns = trace.begin_ns();
    double left_ns = 0, idle_ns = 0;
    size_t next = 0;
    const auto pass_to = [&](int64_t time_ns) {
      if (time_ns <= at_ns) return;
      const int64_t left = std::clamp<int64_t>(int64_t{cores} - running, 0, cores);
      left_ns += static_cast<double>(left) * static_cast<double>(time_ns - at_ns);
      at_ns = time_ns;
    };
    for (const IdleTime& idle : trace.idle_times) {
      for (; next < changes.size() && changes[next].time_ns < idle.until_ns; ++next) {
        pass_to(changes[next].time_ns);
        running += changes[next].running;
      }
      pass_to(idle.until_ns);
      idle_ns += static_cast<double>(idle.idle_ns);
      if (left_ns < kWindowMinNs) continue;
      windows_.push_back({idle.until_ns, std::clamp(1 - idle_ns / left_ns, 0.0, 1.0)});
      left_ns = idle_ns = 0;
    }
  }

  bool is_known() const { return !windows_.empty(); }
  // Times only move forward. After the last window, the share stays that of the last window.
  double at(int64_t time_ns) {
    while (next_ + 1 < windows_.size() && windows_[next_].until_ns <= time_ns) ++next_;
    return windows_[next_].share;
  }

 private:
  // The kernel counts idle time in hundredths of a second: one is a tenth of this window.
  static constexpr double kWindowMinNs = 100e6;
  struct Window {
    int64_t until_ns;
    double share;
  };
  std::vector<Window> windows_;
  size_t next_ = 0;
};

}  // namespace

ForeignCores::ForeignCores(const Trace& trace, uint32_t cores) {
  if (cores == 0) return;
  const std::vector<Change> changes = changes_of(trace);
  BusyShare busy(trace, changes, cores);
  int64_t running = 0, preempted = 0, by_others = 0, stops = 0, at_ns = trace.begin_ns();
  double foreign = 0, total_ns = 0;
  Point last{trace.begin_ns(), 0, 0};
  for (const Change& change : changes) {
    total_ns += foreign * static_cast<double>(change.time_ns - at_ns);
    at_ns = change.time_ns;
    running += change.running;
    preempted += change.preempted;
    by_others += change.by_others;
    stops += change.stops;
    const int64_t left = std::max<int64_t>(0, int64_t{cores} - running);
    foreign = 0;
    if (stops <= 0 && preempted > 0) {
      const double not_idle = busy.is_known() ? static_cast<double>(left) * busy.at(at_ns) : 0;
      const double surely = static_cast<double>(std::min(left, std::max<int64_t>(by_others, 0)));
      foreign = std::min(std::max(not_idle, surely), static_cast<double>(preempted));
    }
    const double share = foreign == 0 ? 0 : foreign / static_cast<double>(preempted);
    const double had = foreign == 0 ? 0 : static_cast<double>(left);
    const auto passed_ns = static_cast<double>(change.time_ns - last.time_ns);
    if (share == last.share && had == last.had) continue;
    if (points_.empty()) points_.push_back(last);
    last = {change.time_ns, last.lost_ns + passed_ns * last.share, share, last.had_ns + passed_ns * last.had, had};
    points_.push_back(last);
  }
  total_ns_ = std::llround(total_ns);
}

const ForeignCores::Point* ForeignCores::point_before(int64_t time_ns) const {
  const auto after = std::upper_bound(points_.begin(), points_.end(), time_ns,
                                      [](int64_t time, const Point& point) { return time < point.time_ns; });
  return after == points_.begin() ? nullptr : &*(after - 1);
}

int64_t ForeignCores::lost_until(int64_t time_ns) const {
  const Point* point = point_before(time_ns);
  if (point == nullptr) return 0;
  return std::llround(point->lost_ns + static_cast<double>(time_ns - point->time_ns) * point->share);
}

double ForeignCores::cores(int64_t begin_ns, int64_t end_ns) const {
  if (points_.empty() || end_ns <= begin_ns) return 0;
  // Other programs count only while they kept the thread from a core. The time during which the program's own threads
  // used the cores says nothing about other programs.
  const auto had_until = [&](int64_t time_ns) {
    const Point* point = point_before(time_ns);
    return point == nullptr ? 0.0 : point->had_ns + static_cast<double>(time_ns - point->time_ns) * point->had;
  };
  return (had_until(end_ns) - had_until(begin_ns)) / static_cast<double>(end_ns - begin_ns);
}

}  // namespace contrafact::model
