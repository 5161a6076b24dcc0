// Time in which threads of a native program were blocked, as the kernel reported, although no event gives the reason.
// Such reasons are: system call instructions of the program's own (Go, libgomp) for locks, channels, sleeps, input and
// output; the C library's internal locks; pages read from disk. Pure; linear in events and switches.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "model/trace.h"

namespace contrafact::analysis {

// Where threads were found blocked when `record` looked (facts `blocked.N`, docs/format.md).
struct BlockedPlace {
  uint64_t looks = 0;
  uint32_t system_call = 0;
  uint64_t futex = 0;      // the address of the wait; 0 for other calls
  model::MethodId method;  // that contains the system call instruction
};

struct UnseenWaits {
  int64_t blocked_ns = 0;   // of all threads, from each one's first event to its last event or switch
  int64_t threads_ns = 0;   // those lifetimes
  model::ThreadId longest;  // the thread with most of it; none if there is none
  int64_t longest_ns = 0;
  // By system call, futex and method, the most frequent first. Empty: `record` did not look, or saw nothing.
  std::vector<BlockedPlace> places;
  uint64_t looks = 0;  // sum of theirs

  double share() const {
    return threads_ns > 0 ? static_cast<double>(blocked_ns) / static_cast<double>(threads_ns) : 0;
  }
};

// The least share that is reported.
inline constexpr double kUnseenShareReported = 0.05;

// None if the recording is not native, or if the kernel reported no switches.
std::optional<UnseenWaits> unseen_waits(const model::Trace& trace);

// One clause, with a name of the program's in it: "threads were blocked for 41 % of their time, longest svc-2, for
// something that the recorder does not see, in 92 % of 120 looks in futex at gomp_barrier_wait (bar.c:44)"; empty where
// nothing is known or the share is below kUnseenShareReported.
std::string unseen_waits_text(const model::Trace& trace);

}  // namespace contrafact::analysis
