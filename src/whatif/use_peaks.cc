#include "whatif/use_peaks.h"

#include <algorithm>

namespace contrafact::whatif {

using graph::Use;
using graph::UseChange;

// A counting sort by time, into about one bucket for every 8 changes.
void UsePeaks::deal(const std::vector<UseChange>& changes) {
  int64_t low_ns = INT64_MAX, high_ns = INT64_MIN;
  for (const UseChange& change : changes) {
    low_ns = std::min(low_ns, change.time_ns());
    high_ns = std::max(high_ns, change.time_ns());
  }
  const size_t count = changes.size() / 8 + 1;
  const double scale = static_cast<double>(count) / (static_cast<double>(high_ns - low_ns) + 1.0);
  buckets_.assign(count + 1, {});
  dealt_.resize(changes.size());
  // Beyond 2^53 the product may round up to the bucket behind the last one.
  const auto bucket_of = [&](const UseChange& change) {
    return std::min(static_cast<size_t>(static_cast<double>(change.time_ns() - low_ns) * scale), count - 1);
  };
  for (const UseChange& change : changes) {
    const size_t at = bucket_of(change);
    Bucket& bucket = buckets_[at];
    ++buckets_[at + 1].begin;
    bucket.net.apply(change);
    bucket.rises.active += change.to() == Use::active;
    bucket.rises.waiting += change.to() == Use::waiting;
    bucket.occupied_rises += change.from() == Use::none;
  }
  for (size_t i = 1; i < buckets_.size(); ++i) buckets_[i].begin += buckets_[i - 1].begin;
  for (const UseChange& change : changes) dealt_[buckets_[bucket_of(change)].begin++] = change;
  for (size_t i = buckets_.size() - 1; i > 0; --i) buckets_[i].begin = buckets_[i - 1].begin;
  buckets_[0].begin = 0;
}

// `next_ns`: when the first change after the bucket happens.
void UsePeaks::sweep(Bucket& bucket, uint32_t end, Counts counts, Peaks& peaks, int64_t next_ns) {
  auto first = dealt_.begin() + bucket.begin, last = dealt_.begin() + end;
  std::sort(first, last, [](const UseChange& x, const UseChange& y) { return x.packed < y.packed; });
  for (auto at = first; at != last; ++at) {
    counts.apply(*at);
    const int64_t until_ns = at + 1 != last ? (at + 1)->time_ns() : next_ns;
    if (until_ns == at->time_ns()) continue;
    peaks.active = std::max(peaks.active, static_cast<uint32_t>(std::max(counts.active, 0)));
    peaks.waiting = std::max(peaks.waiting, static_cast<uint32_t>(std::max(counts.waiting, 0)));
    peaks.occupied = std::max(peaks.occupied, static_cast<uint32_t>(std::max(counts.active + counts.waiting, 0)));
  }
}

Peaks UsePeaks::find(const std::vector<UseChange>& changes) {
  Peaks peaks;
  if (changes.empty()) return peaks;
  deal(changes);
  // Counts at the buckets' borders are lower bounds; a bucket that cannot rise above what was found need not be sorted.
  Counts before;
  for (size_t i = 0; i + 1 < buckets_.size(); ++i) {
    Bucket& bucket = buckets_[i];
    const uint32_t end = buckets_[i + 1].begin;
    if (bucket.begin != end) {
      const bool may_rise =
          before.active + bucket.rises.active > static_cast<int32_t>(peaks.active) ||
          before.waiting + bucket.rises.waiting > static_cast<int32_t>(peaks.waiting) ||
          before.active + before.waiting + bucket.occupied_rises > static_cast<int32_t>(peaks.occupied);
      // Buckets do not share times, so the bucket's last state is held at least until the next one's first change.
      if (may_rise) sweep(bucket, end, before, peaks, INT64_MAX);
    }
    before.active += bucket.net.active;
    before.waiting += bucket.net.waiting;
  }
  return peaks;
}

}  // namespace contrafact::whatif
