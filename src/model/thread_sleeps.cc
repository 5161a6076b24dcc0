#include "model/thread_sleeps.h"

#include <algorithm>

#include "model/on_core.h"
#include "model/sends.h"

namespace contrafact::model {

ThreadSleeps::ThreadSleeps(const Trace& trace)
    : trace_(trace), has_switches_(has_switches(trace)), sleeps_(trace.threads.size()) {
  for (size_t thread = 0; thread < std::min(trace.cpu.size(), sleeps_.size()); ++thread) {
    for (uint32_t i = 0; i < trace.cpu[thread].size(); ++i) {
      if (!trace.cpu[thread][i].preempted) sleeps_[thread].push_back(i);
    }
  }
}

const CpuGap* ThreadSleeps::at(ThreadId thread, size_t number) const {
  const std::vector<uint32_t>& sleeps = sleeps_[thread.index()];
  return number < sleeps.size() ? &trace_.cpu[thread.index()][sleeps[number]] : nullptr;
}

const CpuGap* ThreadSleeps::first_from(ThreadId thread, int64_t time_ns) const {
  const std::vector<uint32_t>& sleeps = sleeps_[thread.index()];
  const auto begins_before = [&](uint32_t gap) { return trace_.cpu[thread.index()][gap].out_ns < time_ns; };
  return at(thread, static_cast<size_t>(std::ranges::partition_point(sleeps, begins_before) - sleeps.begin()));
}

const CpuGap* ThreadSleeps::first_until(ThreadId thread, int64_t time_ns) const {
  const std::vector<uint32_t>& sleeps = sleeps_[thread.index()];
  const auto ends_before = [&](uint32_t gap) { return trace_.cpu[thread.index()][gap].in_ns < time_ns; };
  return at(thread, static_cast<size_t>(std::ranges::partition_point(sleeps, ends_before) - sleeps.begin()));
}

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
  const CpuGap* sleep = first_until(thread, trace_.time_ns[begin] + 1);
  return sleep != nullptr && sleep->out_ns < trace_.time_ns[end];
}

bool ThreadSleeps::has_waited(ThreadId thread, int64_t begin_ns, int64_t end_ns) const {
  constexpr int64_t kLongNs = 50'000;  // ten times the 5 us from which on a call is recorded as a block
  if (thread.index() >= trace_.cpu.size() || trace_.cpu[thread.index()].empty()) return end_ns - begin_ns > kLongNs;
  const CpuGap* sleep = first_until(thread, begin_ns);
  return sleep != nullptr && sleep->out_ns < end_ns;
}

int64_t ThreadSleeps::last_end_ns(uint32_t event) const {
  const ThreadId thread = trace_.thread_of(EventIndex(event));
  const std::vector<uint32_t>& sleeps = sleeps_[thread.index()];
  const auto is_over = [&](uint32_t gap) { return trace_.cpu[thread.index()][gap].in_ns <= trace_.time_ns[event]; };
  const auto after = std::ranges::partition_point(sleeps, is_over);
  return after == sleeps.begin() ? INT64_MIN : trace_.cpu[thread.index()][*(after - 1)].in_ns;
}

}  // namespace contrafact::model
