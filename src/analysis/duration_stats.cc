#include "analysis/duration_stats.h"

#include <algorithm>
#include <numeric>

namespace contrafact::analysis {

DurationStats summarise(std::vector<int64_t>& durations_ns) {
  DurationStats stats;
  stats.count = durations_ns.size();
  if (durations_ns.empty()) return stats;
  stats.total_ns = std::accumulate(durations_ns.begin(), durations_ns.end(), int64_t{0});
  auto from = durations_ns.begin();
  // Ranks rise, so each selection may leave out what the ones before put in front.
  const auto select = [&](uint64_t percent) {
    const uint64_t rank = std::max<uint64_t>(1, (stats.count * percent + 99) / 100);
    const auto nth = durations_ns.begin() + static_cast<int64_t>(rank - 1);
    if (nth >= from) std::nth_element(from, nth, durations_ns.end());
    from = nth;
    return *nth;
  };
  stats.min_ns = select(0);
  stats.p50_ns = select(50);
  stats.p90_ns = select(90);
  stats.p99_ns = select(99);
  stats.max_ns = select(100);
  return stats;
}

}  // namespace contrafact::analysis
