// Runs a schedule with real threads and real locks. To be called in a process of its own: a run that outlasts its limit
// is ended by ending the process.
//
// Strategies:
//  - free: only the locks themselves decide which thread acquires one;
//  - recorded (the paper's RLSC): each lock is acquired in the recorded order, by counting (whatif/sim_lock.h);
//  - deterministic (Kendo's idea): an order that follows from the program and its input alone. Each thread has a
//    logical clock that counts its burnt nanoseconds; only the thread whose clock is least (turns.h), of those that do
//    not wait for another one, may acquire a lock or send or count a signal, and a lock that is released later in this
//    order is still held.
//  - sections: each critical section begins when the sections are over that it follows by the schedule, and takes no
//    lock (plan/section_turns.h); its times are noted.
//
// Under the recorded order and that of sections the k-th wait at a semaphore in the recording goes on after as many
// posts as k waits needed in the recording.
//
// Equation 1: reading (the file, in blocks), decoding and running are timed apart.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "replay/enforce/section_times.h"
#include "replay/schedule.h"

namespace contrafact::replay {

enum class Strategy : uint8_t { free, recorded, deterministic, sections };

struct ReplayCounts {
  int64_t read_ns = 0;
  int64_t decode_ns = 0;
  int64_t run_ns = 0;  // from the first thread's start to the end of the last that counts
  uint64_t file_bytes = 0;
  uint64_t blocks = 0;
  uint64_t order_digest = 0;  // equal for equal orders of exclusive sections at every lock; 0: not noted
  uint64_t out_of_order = 0;  // exclusive sections that began before one that came earlier in the recording;
                              // of sections: before one that they follow was over
  uint64_t sections = 0;
  int64_t sleep_over_ns = 0;  // by which each sleep request was shortened, because a sleep takes that much longer here
  uint64_t waits_left = 0;    // threads that went on although their wait had not ended: nothing else could happen
};

struct ReplayResult : ReplayCounts {
  std::vector<int64_t> wait_ns_by_group;  // of sections: Schedule::groups
};

// Reads `path` and runs it once. REQUIRES: the process has no other threads that matter.
base::Result<ReplayResult> enforce(const std::string& path, Strategy strategy);

}  // namespace contrafact::replay
