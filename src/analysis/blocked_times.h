// The times at which each thread was inside of a recorded block: a sleep, input, output. Code that runs slower because
// it is observed does so outside of these blocks. Immutable; thread-safe.
#pragma once

#include <vector>

#include "model/trace.h"

namespace contrafact::analysis {

class BlockedTimes {
 public:
  // Linear in the events.
  explicit BlockedTimes(const model::Trace& trace);

  // The part of [begin_ns, end_ns), in ns, inside of blocks. Logarithmic in the thread's blocks.
  int64_t within(model::ThreadId thread, int64_t begin_ns, int64_t end_ns) const;

 private:
  struct Block {
    int64_t begin_ns, end_ns;
    int64_t before_ns;  // in all earlier blocks of the thread
  };
  int64_t until(model::ThreadId thread, int64_t time_ns) const;

  std::vector<std::vector<Block>> of_thread_;  // by time, one after the other
};

}  // namespace contrafact::analysis
