// All shared accesses in order (CoreDet's idea; the paper's figure 8): from the log of every access in a trace to turns
// that threads take at the memory that they share.
//
// An aligned 8 bytes of memory are shared if two threads whose lives overlap touch them, and one of these threads
// writes. That includes memory that one thread freed and the other then allocated. A quantum is a chunk of the log: a
// thread's accesses between two calls of the library, about 4,000 at most. Its turn lasts from its first access to
// shared memory to its last one; no other thread has a turn meanwhile. So threads run at once until they touch shared
// memory. Turns come in the order of their beginnings in the recording, each found between its chunk's two times by its
// place among the accesses. A quantum contains no synchronisation. So a thread that has the turn waits for no other
// thread, and everything that threads wait for lies before their turn in the recording, too.
//
// Pure. Two passes over the log. Memory: about half of the memory that the program touched, and 24 bytes for each turn.
#pragma once

#include "base/result.h"
#include "model/trace.h"

namespace contrafact::replay {

inline constexpr uint64_t kTouchedBytesMax = uint64_t{4} << 30;

struct SharedAccesses {
  uint64_t accesses = 0;      // logged
  uint64_t shared = 0;        // of those, to shared memory
  uint64_t shared_bytes = 0;  // shared memory
  uint64_t turns = 0;
  uint64_t gaps = 0;  // chunks before or in which accesses may be missing, and those that the file lost
  uint64_t lost = 0;  // accesses, by the recorder or with the file's damaged parts
};

// Whether the trace holds a log of accesses; the error says why not.
base::Status check_access_log(const model::Trace& trace);

// The trace with turns as critical sections of one more lock, the last of its table. Errors: it holds no log of
// accesses (check_access_log), or more turns than a trace holds events, or the threads touched more than
// `touched_max` bytes, in whole pages. REQUIRES: its log's chunks were loaded
// (model::LoadOptions).
base::Result<model::Trace> with_access_turns(const model::Trace& trace, SharedAccesses& facts,
                                             uint64_t touched_max = kTouchedBytesMax);

inline constexpr char kAccessTurnsLock[] = "turn at shared memory";

}  // namespace contrafact::replay
