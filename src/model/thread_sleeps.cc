#include "model/thread_sleeps.h"

#include <algorithm>

#include "model/on_core.h"
#include "model/sends.h"

namespace contrafact::model {

ThreadSleeps::ThreadSleeps(const Trace& trace) : trace_(trace), has_switches_(has_switches(trace)) {}

bool ThreadSleeps::begins_at(uint32_t event) const {
  const EventKind kind = trace_.kind[event];
  if (kind == EventKind::block_begin) return is_sleep(event);
  return kind == EventKind::wait_begin || kind == EventKind::sync_wait || kind == EventKind::worker_idle;
}

bool ThreadSleeps::is_sleep(uint32_t begin) const {
  if (static_cast<BlockReason>(trace_.a[begin]) != BlockReason::io) return true;
  const ThreadId thread = trace_.thread_of(EventIndex(begin));
  const EventRange range = trace_.thread_events(thread);
  const uint32_t end = begin + 1;
  if (end >= range.end || trace_.kind[end] != EventKind::block_end) return true;
  if (!has_switches_) return begin == range.begin || !is_block_of_send(trace_, begin);
  if (thread.index() >= trace_.cpu.size()) return true;
  const auto& gaps = trace_.cpu[thread.index()];
  for (auto gap = std::ranges::upper_bound(gaps, trace_.time_ns[begin], {}, &CpuGap::in_ns);
       gap != gaps.end() && gap->out_ns < trace_.time_ns[end]; ++gap) {
    if (!gap->preempted) return true;
  }
  return false;
}

bool ThreadSleeps::has_waited(ThreadId thread, int64_t begin_ns, int64_t end_ns) const {
  constexpr int64_t kLongNs = 50'000;  // ten times the 5 us from which on a call is recorded as a block
  if (thread.index() >= trace_.cpu.size() || trace_.cpu[thread.index()].empty()) return end_ns - begin_ns > kLongNs;
  const auto& gaps = trace_.cpu[thread.index()];
  auto gap = std::ranges::lower_bound(gaps, begin_ns, {}, &CpuGap::in_ns);
  while (gap != gaps.end() && gap->preempted && gap->out_ns < end_ns) ++gap;
  return gap != gaps.end() && gap->out_ns < end_ns;
}

int64_t ThreadSleeps::last_end_ns(uint32_t event) const {
  const ThreadId thread = trace_.thread_of(EventIndex(event));
  if (thread.index() >= trace_.cpu.size()) return INT64_MIN;
  const auto& gaps = trace_.cpu[thread.index()];
  auto gap = std::ranges::upper_bound(gaps, trace_.time_ns[event], {}, &CpuGap::in_ns);
  while (gap != gaps.begin()) {
    --gap;
    if (!gap->preempted) return gap->in_ns;
  }
  return INT64_MIN;
}

}  // namespace contrafact::model
