// Summary of many durations: count, total, extremes and exact percentiles.
#pragma once

#include <cstdint>
#include <vector>

namespace contrafact::analysis {

struct DurationStats {
  uint64_t count = 0;
  int64_t total_ns = 0;
  int64_t min_ns = 0;
  int64_t p50_ns = 0;
  int64_t p90_ns = 0;
  int64_t p99_ns = 0;
  int64_t max_ns = 0;
  double mean_ns() const { return count ? static_cast<double>(total_ns) / static_cast<double>(count) : 0; }
};

// Percentiles by nearest rank. Reorders `durations`; linear.
DurationStats summarise(std::vector<int64_t>& durations_ns);

}  // namespace contrafact::analysis
