#include "format/access_set.h"

#include <algorithm>

namespace contrafact::format {
namespace {

// Appends [begin, end) to ranges that are canonical already; joins it with the last range where that is possible.
void append(std::vector<AccessRange>& out, uint64_t begin, uint64_t end, uint32_t flags) {
  if (!out.empty() && out.back().end() == begin && out.back().flags == flags &&
      end - out.back().begin <= kAccessLengthMax) {
    out.back().length_bytes = static_cast<uint32_t>(end - out.back().begin);
    return;
  }
  for (; begin < end; begin += out.back().length_bytes) {
    out.push_back({begin, static_cast<uint32_t>(std::min<uint64_t>(end - begin, kAccessLengthMax)), flags});
  }
}

bool is_canonical(const std::vector<AccessRange>& ranges) {
  for (size_t i = 0; i < ranges.size(); ++i) {
    if (!is_sound(ranges[i])) return false;
    if (i > 0 && (ranges[i].begin < ranges[i - 1].end() ||
                  (ranges[i].begin == ranges[i - 1].end() && ranges[i].flags == ranges[i - 1].flags))) {
      return false;
    }
  }
  return true;
}

}  // namespace

// A sweep over the addresses. Between two places where a range begins or ends, the flags are the join of those that
// cover it; `covering` holds them by their ends. Ranges that cover one place are few: sets come from single accesses.
void make_canonical(std::vector<AccessRange>& ranges) {
  if (is_canonical(ranges)) return;
  std::erase_if(ranges, [](const AccessRange& range) { return !is_sound(range); });
  std::sort(ranges.begin(), ranges.end(), [](const AccessRange& x, const AccessRange& y) { return x.begin < y.begin; });
  std::vector<AccessRange> out;
  out.reserve(ranges.size());
  std::vector<AccessRange> covering;
  uint64_t at = 0;
  size_t next = 0;
  while (next < ranges.size() || !covering.empty()) {
    if (covering.empty()) at = ranges[next].begin;
    while (next < ranges.size() && ranges[next].begin == at) covering.push_back(ranges[next++]);
    uint64_t until = next < ranges.size() ? ranges[next].begin : UINT64_MAX;
    uint32_t flags = covering.front().flags;
    for (const AccessRange& range : covering) {
      until = std::min(until, range.end());
      flags = joined(flags, range.flags);
    }
    append(out, at, until, flags);
    at = until;
    std::erase_if(covering, [at](const AccessRange& range) { return range.end() <= at; });
  }
  ranges = std::move(out);
}

}  // namespace contrafact::format
