#include "whatif/sim_share.h"

#include <algorithm>
#include <cmath>

#include "base/merge_runs.h"
#include "model/task_walk.h"

namespace contrafact::whatif {
namespace {

// A thread runs while it is inside a task and neither waits nor blocks. What threads do outside of tasks does not
// count: the simulation takes it for a pause, but for native programs.
bool runs(const model::Trace& trace, const model::TaskWalk& walk, const model::ThreadUse& use, bool native) {
  if (native) return walk.stack().empty() || walk.in(model::FrameKind::task);
  if (!walk.in(model::FrameKind::task)) return false;
  const bool own_run = trace.tasks[walk.task().index()].kind == model::TaskKind::thread;
  return !own_run || use.role == model::ThreadRole::joined;
}

}  // namespace

std::vector<RunningChange> running_changes(const model::Trace& trace, const std::vector<model::ThreadUse>& uses,
                                           bool native) {
  std::vector<RunningChange> changes;
  std::vector<size_t> begins{0};  // by thread
  for (uint32_t i = 0; i < trace.threads.size(); ++i) {
    if (begins.back() < changes.size()) begins.push_back(changes.size());
    if (!native && uses[i].role == model::ThreadRole::bystander) continue;
    bool running = false;
    for (model::TaskWalk walk(trace, model::ThreadId(i)); walk.next();) {
      const bool now = runs(trace, walk, uses[i], native);
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
    if (native && running) changes.push_back({trace.time_ns[range.end - 1], -1});
  }
  base::merge_runs(changes, std::move(begins),
                   [](const RunningChange& x, const RunningChange& y) { return x.time_ns < y.time_ns; });
  return changes;
}

CoreShare::CoreShare(const model::Trace& trace, const std::vector<model::ThreadUse>& uses, uint32_t cores,
                     bool native) {
  const std::vector<RunningChange> changes = running_changes(trace, uses, native);
  int64_t running = 0;
  Point last{trace.begin_ns(), trace.begin_ns(), 1.0};
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

int64_t CoreShare::cpu_until(int64_t time_ns) const {
  const auto after = std::upper_bound(points_.begin(), points_.end(), time_ns,
                                      [](int64_t time, const Point& point) { return time < point.time_ns; });
  if (after == points_.begin()) return time_ns;
  const Point& point = *(after - 1);
  return point.cpu_ns + static_cast<int64_t>(std::llround(static_cast<double>(time_ns - point.time_ns) * point.share));
}

}  // namespace contrafact::whatif
