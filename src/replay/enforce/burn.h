// Burns time on a core so that time without the core does not count: the time between two looks at the clock counts
// only if it is shorter than any switch to another thread and back.
#pragma once

#include <atomic>
#include <cstdint>

#include "base/clock.h"

namespace contrafact::replay {

// One thread's. Time is burnt in small portions, and exactly in the sum: if one burn takes too long, the next is
// shorter. The replay's own work between two burns is subtracted in the same way, because the recorded time of a call
// of a lock is part of the burns beside it. `now_ns` is the clock.
template <int64_t (*now_ns)()>
class BurnerBy {
 public:
  // A look at the clock takes about 20 ns; two switches, a microsecond and more.
  static constexpr int64_t kGapMax = 2'000;

  // `clock`: grows with the burnt time, for other threads to watch. May be nullptr.
  void burn(int64_t ns, std::atomic<int64_t>* clock) {
    const int64_t base = clock ? clock->load(std::memory_order_relaxed) : 0;
    int64_t last_ns = now_ns();
    int64_t had_ns = over_ns_;
    if (last_ns - end_ns_ <= kGapMax) had_ns += last_ns - end_ns_;  // else it waited, or lost its core
    while (had_ns < ns) {
      const int64_t looked_ns = now_ns();
      if (looked_ns - last_ns <= kGapMax) had_ns += looked_ns - last_ns;
      last_ns = looked_ns;
      if (clock) clock->store(base + (had_ns < ns ? had_ns : ns), std::memory_order_release);
    }
    over_ns_ = had_ns - ns;
    end_ns_ = last_ns;
    if (clock) clock->store(base + ns, std::memory_order_release);
  }

 private:
  int64_t over_ns_ = 0;
  int64_t end_ns_ = INT64_MIN / 2;  // of the last burn
};

using Burner = BurnerBy<base::monotonic_ns>;

}  // namespace contrafact::replay
