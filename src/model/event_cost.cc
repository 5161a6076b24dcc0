#include "model/event_cost.h"

#include <algorithm>
#include <vector>

namespace contrafact::model {

int64_t event_cost_ns(const Trace& trace) {
  constexpr size_t kTasksMin = 100;
  constexpr int64_t kMostNs = 200;
  std::vector<int64_t> times_ns;
  for (const EventRange& range : trace.thread_ranges) {
    for (uint32_t i = range.begin; i + 1 < range.end; ++i) {
      const bool ends = trace.kind[i] == EventKind::task_complete && trace.kind[i + 1] == EventKind::task_end;
      if (ends && trace.a[i] == trace.a[i + 1]) times_ns.push_back(trace.time_ns[i + 1] - trace.time_ns[i]);
    }
  }
  if (times_ns.size() < kTasksMin) return 0;
  const auto nth = times_ns.begin() + static_cast<ptrdiff_t>(times_ns.size() / 10);
  std::ranges::nth_element(times_ns, nth);
  return std::min(*nth, kMostNs);
}

}  // namespace contrafact::model
