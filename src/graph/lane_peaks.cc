#include "graph/lane_peaks.h"

#include <algorithm>

#include "base/check.h"
#include "graph/lane_machine.h"
#include "graph/propagate.h"

namespace contrafact::graph {

LanePeaks::LanePeaks(size_t changes_max, size_t kept)
    : rows_max_(rows_max(changes_max)),
      rows_(std::make_unique_for_overwrite<LaneRow[]>(rows_max_)),
      wide_(std::make_unique_for_overwrite<LaneRow[]>(rows_max_)),
      narrow_(std::make_unique_for_overwrite<uint32_t[]>(rows_max_ * kept)),
      blocks_(rows_max_ / PeakMemory::kBlock) {
  memory_.rows = rows_.get();
  memory_.blocks = blocks_.data();
  memory_.narrow = narrow_.get();
  memory_.wide = wide_.get();
  memory_.kept = kept;
}

size_t LanePeaks::bytes(size_t changes_max, size_t kept) {
  const size_t rows = rows_max(changes_max);
  return rows * kept * sizeof(uint32_t) + rows / PeakMemory::kBlock * sizeof(PeakMemory::Block) +
         buckets_max(rows) * lanes_of_buckets(kept) * sizeof(uint64_t) + kChunk * sizeof(LaneRow);
}

void LanePeaks::begin(int64_t begin_ns, int64_t end_ns) {
  const int64_t span_ns = std::max<int64_t>(1, end_ns - begin_ns);
  memory_.begin_ns = begin_ns;
  memory_.counted = 0;
  memory_.wide_rows = 0;
  memory_.shift = 0;
  while (span_ns >> memory_.shift > static_cast<int64_t>(rows_max_ / 16)) ++memory_.shift;
  // Half as long again as the recorded run; what is later still is in the last bucket.
  memory_.bucket_max = ((span_ns + span_ns / 2) >> memory_.shift) + 1;
  buckets_.assign(static_cast<size_t>(memory_.bucket_max + 2) * lanes_of_buckets(memory_.kept), 0);
  memory_.buckets = buckets_.data();
  wanted_.assign(static_cast<size_t>(memory_.bucket_max) + 1, 0);
}

void LanePeaks::count(size_t rows) {
  CHECK(rows % kChunk == 0 && memory_.counted + rows <= rows_max_);
  lane_machine().count(memory_, rows);
}

uint32_t LanePeaks::find(size_t lane) {
  constexpr size_t kAtATime = 64;
  int64_t count = 0, peak = 0;
  hot_.clear();
  uint64_t* const buckets = memory_.buckets_of(lane);
  for (uint32_t i = 0; i <= memory_.bucket_max; ++i) {
    const auto rises = static_cast<int64_t>(buckets[i] & (PeakMemory::kFall - 1));
    const auto falls = static_cast<int64_t>(buckets[i] / PeakMemory::kFall);
    if (count + rises > peak) hot_.push_back({static_cast<int32_t>(count + rises), i});
    buckets[i] = static_cast<uint64_t>(count);
    count += rises - falls;
    peak = std::max(peak, count);
  }
  peak_ = peak;
  std::erase_if(hot_, [&](const Hot& hot) { return hot.bound <= peak; });
  std::sort(hot_.begin(), hot_.end(),
            [](const Hot& x, const Hot& y) { return x.bound != y.bound ? x.bound > y.bound : x.bucket < y.bucket; });
  for (size_t first = 0; first < hot_.size() && hot_[first].bound > peak_; first += kAtATime)
    look_into(lane, first, std::min(first + kAtATime, hot_.size()));
  return static_cast<uint32_t>(peak_);
}

// Gathers the changes in the wanted buckets.
void LanePeaks::look_into_block(size_t lane, size_t number) {
  const PeakMemory::Block& block = blocks_[number];
  const auto add = [&](int64_t change) {
    if (wanted_[static_cast<size_t>(memory_.bucket_of(change >> 1))])
      changes_.push_back({change >> 1, change & 1 ? 1 : -1});
  };
  if (block.wide == PeakMemory::kNarrow) {
    const uint32_t* const rows = narrow_.get() + number * PeakMemory::kBlock * memory_.kept;
    const int64_t begin = 2 * memory_.begin_of(block.first[lane]);
    for (size_t k = 0; k < PeakMemory::kBlock; ++k) {
      if (const uint32_t distance = rows[k * memory_.kept + lane]; distance != 0) add(begin + distance - 1);
    }
  } else {
    const LaneRow* const rows = wide_.get() + block.wide;
    for (size_t k = 0; k < PeakMemory::kBlock; ++k) {
      if (rows[k].lane[lane] != kNever) add(rows[k].lane[lane]);
    }
  }
}

// Looks at one change after the other, in the hot buckets [first, last).
void LanePeaks::look_into(size_t lane, size_t first, size_t last) {
  std::vector<int32_t> buckets;
  for (size_t i = first; i < last; ++i) buckets.push_back(static_cast<int32_t>(hot_[i].bucket));
  std::sort(buckets.begin(), buckets.end());
  for (int32_t bucket : buckets) wanted_[static_cast<size_t>(bucket)] = 1;
  changes_.clear();
  for (size_t i = 0; i < memory_.counted / PeakMemory::kBlock; ++i) {
    const PeakMemory::Block& block = blocks_[i];
    const auto at = std::lower_bound(buckets.begin(), buckets.end(), block.first[lane]);
    if (at != buckets.end() && *at <= block.last[lane]) look_into_block(lane, i);
  }
  for (int32_t bucket : buckets) wanted_[static_cast<size_t>(bucket)] = 0;
  std::sort(changes_.begin(), changes_.end(), [](const Change& x, const Change& y) { return x.time_ns < y.time_ns; });
  int64_t bucket = -1, count = 0;
  for (size_t i = 0; i < changes_.size(); ++i) {
    if (memory_.bucket_of(changes_[i].time_ns) != bucket) {
      bucket = memory_.bucket_of(changes_[i].time_ns);
      count = static_cast<int64_t>(memory_.buckets_of(lane)[bucket]);
    }
    count += changes_[i].step;
    const bool held = i + 1 == changes_.size() || changes_[i + 1].time_ns != changes_[i].time_ns;
    if (held) peak_ = std::max(peak_, count);
  }
}

}  // namespace contrafact::graph
