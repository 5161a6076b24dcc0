// When threads have nothing to do: by what is recorded of their waits, and by when the kernel says that they left their cores.
//
// Pure; linear in the times at which threads left their cores. A question is O(log n) in them, however often other programs took a core
// away.
#pragma once

#include <cstdint>
#include <vector>

#include "model/trace.h"

namespace contrafact::model {

class ThreadSleeps {
 public:
  // `trace` must outlive it.
  explicit ThreadSleeps(const Trace& trace);

  const Trace& trace() const { return trace_; }
  // Whether the thread has nothing to do from this event on, until something comes.
  bool begins_at(uint32_t event) const;
  // Whether a block that begins here is a sleep: calls that receive and send compute, too, and are blocks if that takes long.
  bool is_sleep(uint32_t block_begin) const;
  // Whether the thread left its core between the two times; where the kernel did not say, whether there is long between them.
  bool has_waited(ThreadId thread, int64_t begin_ns, int64_t end_ns) const;
  // When the event's thread came back to a core from its last sleep before the event; INT64_MIN if the kernel reported none.
  int64_t last_end_ns(uint32_t event) const;
  // Of the sleeps that the kernel reported of the thread, the first one from that time on; and the first one that lasts until that time, or
  // ends later. Null: there is none.
  const CpuGap* first_from(ThreadId thread, int64_t time_ns) const;
  const CpuGap* first_until(ThreadId thread, int64_t time_ns) const;

 private:
  const CpuGap* at(ThreadId thread, size_t number) const;

  const Trace& trace_;
  const bool has_switches_;                    // model::has_switches()
  std::vector<std::vector<uint32_t>> sleeps_;  // by thread: those of its CpuGaps that are no preemptions
};

}  // namespace contrafact::model
