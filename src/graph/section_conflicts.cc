#include "graph/section_conflicts.h"

#include <algorithm>
#include <span>

namespace contrafact::graph {

using format::AccessRange;

namespace {

bool writes_any(std::span<const AccessRange> ranges) {
  return std::ranges::any_of(ranges, [](const AccessRange& range) { return range.flags & format::kAccessWrite; });
}

// The first range that ends beyond `address`. Doubling steps: few of a long set's ranges lie near those of a short one.
size_t seek(std::span<const AccessRange> ranges, size_t from, uint64_t address) {
  size_t step = 1, low = from;
  while (low + step < ranges.size() && ranges[low + step].end() <= address) {
    low += step;
    step *= 2;
  }
  const auto begin = ranges.begin() + static_cast<ptrdiff_t>(low);
  const auto end = ranges.begin() + static_cast<ptrdiff_t>(std::min(low + step + 1, ranges.size()));
  return static_cast<size_t>(
      std::partition_point(begin, end, [&](const AccessRange& range) { return range.end() <= address; }) -
      ranges.begin());
}

}  // namespace

PairKind SectionConflicts::between(uint32_t x, uint32_t y) {
  const uint64_t key = uint64_t{std::min(x, y)} << 32 | std::max(x, y);
  const auto [found, added] = known_.try_emplace(key, PairKind::unknown);
  if (added) found->second = compare(x, y);
  return found->second;
}

PairKind SectionConflicts::compare(uint32_t x, uint32_t y) const {
  const auto a = sets_.ranges_of(x), b = sets_.ranges_of(y);
  if ((a.empty() && sets_.is_complete(x)) || (b.empty() && sets_.is_complete(y))) return PairKind::null_lock;
  bool meet = false;  // one of the three intersections is not empty
  for (size_t i = 0, j = 0; i < a.size() && j < b.size();) {
    if (a[i].end() <= b[j].begin) {
      i = seek(a, i, b[j].begin);
    } else if (b[j].end() <= a[i].begin) {
      j = seek(b, j, a[i].begin);
    } else {
      if (need_order(class_of(a[i].flags), class_of(b[j].flags))) return PairKind::conflict;
      meet |= ((a[i].flags | b[j].flags) & format::kAccessWrite) != 0;
      if (a[i].end() < b[j].end()) {
        ++i;
      } else {
        ++j;
      }
    }
  }
  if (!sets_.is_complete(x) || !sets_.is_complete(y)) return PairKind::unknown;
  if (meet) return PairKind::benign;
  return writes_any(a) || writes_any(b) ? PairKind::disjoint_write : PairKind::read_read;
}

}  // namespace contrafact::graph
