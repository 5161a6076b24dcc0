#include "whatif/sim_core_queue.h"

#include <algorithm>

namespace contrafact::whatif {

CoreQueue::CoreQueue(const model::Trace& trace) {
  for (uint32_t t = 0; t < trace.cpu.size(); ++t) {
    const model::EventRange range = trace.thread_events(model::ThreadId(t));
    if (range.size() == 0) continue;
    int64_t since_ns = trace.time_ns[range.begin];
    const auto leave = [&](int64_t out_ns) {
      if (out_ns > since_ns) left_.push_back({out_ns, out_ns - since_ns});
    };
    for (const model::CpuGap& gap : trace.cpu[t]) {
      leave(gap.out_ns);
      since_ns = gap.in_ns;
    }
    leave(trace.time_ns[range.end - 1]);
  }
  std::ranges::sort(left_, {}, &Left::out_ns);
}

int64_t CoreQueue::waited_ns(int64_t out_ns, int64_t in_ns) const {
  constexpr int64_t kSwitchMax = 5'000;     // from one thread's leaving to the next one's coming
  constexpr int64_t kSliceMax = 4'000'000;  // a tick at 250 Hz, at which Linux looks whose slice is over
  const auto after = std::ranges::upper_bound(left_, in_ns, {}, &Left::out_ns);
  if (after == left_.begin()) return 0;
  const Left& before = *(after - 1);
  const bool handed_over = before.out_ns > out_ns && in_ns - before.out_ns <= kSwitchMax;
  return handed_over ? std::min(before.ran_ns, kSliceMax) : 0;
}

}  // namespace contrafact::whatif
