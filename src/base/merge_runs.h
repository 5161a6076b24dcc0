// Sorts values that consist of sorted runs, for example one run for each thread. Stable.
#pragma once

#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

namespace contrafact::base {

// `runs`: where each run begins, the first at 0; some may be empty. Neighbours are merged until one run is left. The
// cost is that of log2(runs) copies.
template <typename T, typename Before>
void merge_runs(std::vector<T>& values, std::vector<size_t> runs, Before before) {
  std::vector<T> merged(values.size());
  runs.push_back(values.size());
  while (runs.size() > 2) {
    std::vector<size_t> next;
    for (size_t i = 0; i + 1 < runs.size(); i += 2) {
      const auto at = [&](size_t run) {
        return values.begin() + static_cast<std::ptrdiff_t>(runs[std::min(run, runs.size() - 1)]);
      };
      next.push_back(runs[i]);
      std::merge(at(i), at(i + 1), at(i + 1), at(i + 2), merged.begin() + static_cast<std::ptrdiff_t>(runs[i]), before);
    }
    next.push_back(values.size());
    values.swap(merged);
    runs = std::move(next);
  }
}

}  // namespace contrafact::base
