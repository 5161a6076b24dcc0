// The mean of times of which some few are much longer or shorter than the others. Pure; O(n log n).
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace contrafact::whatif {

struct Mean {
  double ns = 0;
  double variance = 0;  // of the mean
};

// Without the twentieth at either end: something held these up.
inline Mean trimmed_mean(std::vector<int64_t> values_ns) {
  std::ranges::sort(values_ns);
  const size_t cut = values_ns.size() / 20;
  const std::span<const int64_t> kept = std::span(values_ns).subspan(cut, values_ns.size() - 2 * cut);
  const auto count = static_cast<double>(kept.size());
  Mean mean;
  for (const int64_t ns : kept) mean.ns += static_cast<double>(ns) / count;
  double squares = 0;
  for (const int64_t ns : kept) squares += (static_cast<double>(ns) - mean.ns) * (static_cast<double>(ns) - mean.ns);
  mean.variance = count > 1 ? squares / (count - 1) / count : 0;
  return mean;
}

}  // namespace contrafact::whatif
