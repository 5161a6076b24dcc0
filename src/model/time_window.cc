#include "model/time_window.h"

#include <algorithm>

namespace contrafact::model {

TimeWindow window_of(const Trace& parts) {
  for (const EventRange& range : parts.thread_ranges) {
    if (range.size() == 0) continue;
    const int64_t first_ns = std::clamp(parts.time_ns[range.begin], -kTimeMax, kTimeMax);
    return {first_ns - kTimeSpanMax, first_ns + kTimeSpanMax};
  }
  return {-kTimeMax, kTimeMax};
}

uint64_t bound_times(Trace& parts, const TimeWindow& window) {
  const auto bound = [&](int64_t& time_ns) { time_ns = std::clamp(time_ns, window.low_ns, window.high_ns); };
  for (Pause& pause : parts.pauses) bound(pause.begin_ns), bound(pause.end_ns);
  for (VmStint& stint : parts.vm_stints) bound(stint.begin_ns), bound(stint.end_ns);
  for (IdleTime& idle : parts.idle_times) bound(idle.until_ns);
  for (std::vector<CpuGap>& gaps : parts.cpu) {
    for (CpuGap& gap : gaps) bound(gap.out_ns), bound(gap.in_ns);
  }
  for (BlockedOn& block : parts.blocked_on) bound(block.time_ns);
  for (AccessLog::Chunk& chunk : parts.access_log.chunks) bound(chunk.begin_ns), bound(chunk.end_ns);
  uint64_t outside = 0;
  for (const EventRange& range : parts.thread_ranges) {
    int64_t* const begin = parts.time_ns.data() + range.begin;
    int64_t* const end = parts.time_ns.data() + range.end;
    // Nearly every trace needs no more than this look at its times.
    int64_t low_ns = window.high_ns, high_ns = window.low_ns;
    for (const int64_t* at = begin; at != end; ++at) {
      low_ns = std::min(low_ns, *at);
      high_ns = std::max(high_ns, *at);
    }
    if (low_ns >= window.low_ns && high_ns <= window.high_ns) continue;
    for (int64_t* at = begin; at != end; ++at) {
      outside += *at < window.low_ns || *at > window.high_ns;
      bound(*at);
    }
  }
  return outside;
}

}  // namespace contrafact::model
