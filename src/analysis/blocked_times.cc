#include "analysis/blocked_times.h"

#include <algorithm>

namespace contrafact::analysis {

BlockedTimes::BlockedTimes(const model::Trace& trace) : of_thread_(trace.threads.size()) {
  for (uint32_t thread = 0; thread < trace.threads.size(); ++thread) {
    const model::EventRange range = trace.thread_events(model::ThreadId(thread));
    std::vector<Block>& blocks = of_thread_[thread];
    int64_t begin_ns = 0, before_ns = 0;
    uint32_t depth = 0;
    for (uint32_t i = range.begin; i < range.end; ++i) {
      if (trace.kind[i] == model::EventKind::block_begin && depth++ == 0) begin_ns = trace.time_ns[i];
      if (trace.kind[i] != model::EventKind::block_end || depth == 0 || --depth > 0) continue;
      blocks.push_back({begin_ns, trace.time_ns[i], before_ns});
      before_ns += trace.time_ns[i] - begin_ns;
    }
  }
}

int64_t BlockedTimes::within(model::ThreadId thread, int64_t begin_ns, int64_t end_ns) const {
  return end_ns <= begin_ns ? 0 : until(thread, end_ns) - until(thread, begin_ns);
}

int64_t BlockedTimes::until(model::ThreadId thread, int64_t time_ns) const {
  const std::vector<Block>& blocks = of_thread_[thread.index()];
  const auto later = std::ranges::upper_bound(blocks, time_ns, {}, &Block::begin_ns);
  if (later == blocks.begin()) return 0;
  const Block& last = *(later - 1);
  return last.before_ns + std::min(time_ns, last.end_ns) - last.begin_ns;
}

}  // namespace contrafact::analysis
