// How many of something must have been there, by when some of it was taken and given back.
// Pure; O(n log n) in the changes.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

namespace contrafact::whatif {

struct CountChange {
  uint32_t of;  // a pool of permits, a semaphore
  int64_t time_ns;
  int64_t by;  // negative: taken
};

// Calls `visit(of, count)` after each change with the sum of that and those before of the same thing. At one time, what is given comes
// before what is taken.
template <typename Visit>
void each_count(std::vector<CountChange>& changes, Visit visit) {
  std::ranges::sort(changes, [](const CountChange& x, const CountChange& y) {
    if (x.of != y.of) return x.of < y.of;
    return x.time_ns != y.time_ns ? x.time_ns < y.time_ns : x.by > y.by;
  });
  int64_t count = 0;
  for (size_t i = 0; i < changes.size(); ++i) {
    if (i == 0 || changes[i].of != changes[i - 1].of) count = 0;
    count += changes[i].by;
    visit(changes[i].of, count);
  }
}

}  // namespace contrafact::whatif
