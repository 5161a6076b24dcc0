#include "whatif/sim_share.h"

#include <algorithm>
#include <cmath>

#include "base/merge_runs.h"
#include "model/task_walk.h"

namespace contrafact::whatif {
namespace {

// A thread runs while it is inside a task and neither waits nor blocks. Its time outside of tasks does not count,
// because the simulation takes it for a pause; except where all threads count.
bool runs(const model::Trace& trace, const model::TaskWalk& walk, const model::ThreadUse& use, bool all_threads) {
  if (all_threads) return walk.stack().empty() || walk.in(model::FrameKind::task);
  if (!walk.in(model::FrameKind::task)) return false;
  const bool own_run = trace.tasks[walk.task().index()].kind == model::TaskKind::thread;
  return !own_run || use.role == model::ThreadRole::joined;
}

}  // namespace

std::vector<RunningChange> running_changes(const model::Trace& trace, const std::vector<model::ThreadUse>& uses,
                                           bool all_threads) {
  std::vector<RunningChange> changes;
  std::vector<size_t> begins{0};  // by thread
  for (uint32_t i = 0; i < trace.threads.size(); ++i) {
    if (begins.back() < changes.size()) begins.push_back(changes.size());
    if (!all_threads && uses[i].role == model::ThreadRole::bystander) continue;
    bool running = false;
    for (model::TaskWalk walk(trace, model::ThreadId(i)); walk.next();) {
      const bool now = runs(trace, walk, uses[i], all_threads);
      if (now == running) continue;
      const int32_t by = now ? 1 : -1;
      running = now;
      if (!changes.empty() && changes.back().time_ns == walk.time_ns() && changes.back().by == -by) {
        changes.pop_back();  // an instant's change of this thread, taken back
      } else {
        changes.push_back({walk.time_ns(), by});
      }
    }
    const model::EventRange range = trace.thread_events(model::ThreadId(i));
    if (all_threads && running) changes.push_back({trace.time_ns[range.end - 1], -1});
  }
  base::merge_runs(changes, std::move(begins),
                   [](const RunningChange& x, const RunningChange& y) { return x.time_ns < y.time_ns; });
  return changes;
}

CoreShare::CoreShare(const std::vector<RunningChange>& changes, int64_t begin_ns, uint32_t cores) {
  int64_t running = 0;
  Point last{begin_ns, begin_ns, 1.0};
  for (const RunningChange& change : changes) {
    running += change.by;
    const double share = running > cores ? static_cast<double>(cores) / static_cast<double>(running) : 1.0;
    if (share == last.share) continue;
    const auto grown =
        static_cast<int64_t>(std::llround(static_cast<double>(change.time_ns - last.time_ns) * last.share));
    if (points_.empty()) points_.push_back(last);
    last = {change.time_ns, last.cpu_ns + grown, share};
    points_.push_back(last);
  }
}

int64_t CoreShare::cpu_until(int64_t time_ns, Place& place) const {
  constexpr size_t kNear = 16;
  const size_t near_end = std::min(place + kNear, points_.size());
  size_t after = points_[place].time_ns <= time_ns ? place + 1 : points_.size();  // the first beyond `time_ns`
  while (after < near_end && points_[after].time_ns <= time_ns) ++after;
  if (after >= near_end) {
    const auto found = std::ranges::upper_bound(points_, time_ns, {}, &Point::time_ns);
    after = static_cast<size_t>(found - points_.begin());
  }
  if (after == 0) return time_ns;
  place = after - 1;
  const Point& point = points_[place];
  return point.cpu_ns + static_cast<int64_t>(std::llround(static_cast<double>(time_ns - point.time_ns) * point.share));
}

}  // namespace contrafact::whatif
