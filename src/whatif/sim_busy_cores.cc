#include "whatif/sim_busy_cores.h"

#include <algorithm>

namespace contrafact::whatif {
namespace {

struct Change {
  int64_t time_ns;
  int32_t by;
};

std::vector<Change> changes_of(const model::Trace& trace, bool& known) {
  std::vector<int64_t> begin_ns(trace.threads.size(), INT64_MAX);
  for (const model::TaskRow& task : trace.tasks) {  // a new thread wants a core from its creation on
    if (task.kind != model::TaskKind::thread || !task.spawn.valid() || !task.start.valid()) continue;
    begin_ns[trace.thread_of(task.start).index()] = trace.time_ns[task.spawn.index()];
  }
  std::vector<Change> changes;
  for (uint32_t t = 0; t < trace.threads.size(); ++t) {
    const model::EventRange range = trace.thread_events(model::ThreadId(t));
    if (range.size() == 0) continue;
    changes.push_back({std::min(begin_ns[t], trace.time_ns[range.begin]), 1});
    changes.push_back({trace.time_ns[range.end - 1], -1});
    if (t >= trace.cpu.size()) continue;
    for (const model::CpuGap& gap : trace.cpu[t]) {
      known = true;
      if (gap.preempted) continue;
      changes.push_back({gap.out_ns, -1});
      changes.push_back({gap.in_ns, 1});
    }
  }
  std::sort(changes.begin(), changes.end(), [](const Change& x, const Change& y) { return x.time_ns < y.time_ns; });
  return changes;
}

}  // namespace

BusyCores::BusyCores(const model::Trace& trace, uint32_t cores) {
  bool known = false;
  const std::vector<Change> changes = changes_of(trace, known);
  if (!known || cores == 0) return;
  // A core is free in name only from one thread's leaving to the next one's coming.
  constexpr int64_t kSwitchMax = 5'000;
  int64_t busy = 0;
  for (const Change& change : changes) {
    const bool was = busy >= int64_t{cores};
    busy += change.by;
    const bool is = busy >= int64_t{cores};
    if (was == is) continue;
    if (!is) {
      crowded_.back().end_ns = change.time_ns;
    } else if (!crowded_.empty() && change.time_ns - crowded_.back().end_ns <= kSwitchMax) {
      crowded_.back().end_ns = INT64_MAX;
    } else {
      crowded_.push_back({change.time_ns, INT64_MAX});
    }
  }
}

int64_t BusyCores::crowded_since(int64_t time_ns) const {
  const auto after = std::upper_bound(crowded_.begin(), crowded_.end(), time_ns,
                                      [](int64_t time, const Interval& interval) { return time < interval.begin_ns; });
  if (after == crowded_.begin()) return time_ns;
  const Interval& interval = *(after - 1);
  return time_ns <= interval.end_ns ? interval.begin_ns : time_ns;
}

}  // namespace contrafact::whatif
