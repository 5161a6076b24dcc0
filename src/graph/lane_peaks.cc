#include "graph/lane_peaks.h"

#include <algorithm>

#include "base/check.h"
#include "graph/lane_vector.h"
#include "graph/propagate.h"

namespace contrafact::graph {
namespace {

constexpr uint64_t kFall = uint64_t{1} << 32;
constexpr uint64_t kLower = kFall - 1;

}  // namespace

struct LanePeaks::Machine {
  CONTRAFACT_LANE_INLINE static void count(LanePeaks& peaks);
  CONTRAFACT_LANE_TARGETS(count, LanePeaks&)
};

LanePeaks::LanePeaks(size_t changes_max) : rows_((changes_max / kChunk + 2) * kChunk) {
  chunks_.reserve(rows_.size() / kChunk);
}

void LanePeaks::begin(int64_t begin_ns, int64_t end_ns) {
  const int64_t span_ns = std::max<int64_t>(1, end_ns - begin_ns);
  begin_ns_ = begin_ns;
  shift_ = 0;
  while (span_ns >> shift_ > static_cast<int64_t>(rows_.size() / 16)) ++shift_;
  // Half as long again as the recorded run; what is later still is in the last bucket.
  bucket_max_ = static_cast<size_t>((span_ns + span_ns / 2) >> shift_) + 1;
  buckets_.assign((bucket_max_ + 1) * kLanes, 0);
  wanted_.assign(bucket_max_ + 1, 0);
  chunks_.clear();
}

inline void LanePeaks::Machine::count(LanePeaks& peaks) {
  const auto* row = reinterpret_cast<const Lanes*>(peaks.rows() + peaks.chunks_.size() * kChunk);
  const auto* const end = row + kChunk;
  const Lanes none = Lanes{} + kNever, zero{}, max = Lanes{} + static_cast<int64_t>(peaks.bucket_max_);
  const int shift = peaks.shift_;
  uint64_t* buckets[kLanes];
  for (size_t lane = 0; lane < kLanes; ++lane) buckets[lane] = peaks.buckets_of(lane);
  Lanes first = max, last{};
  for (; row != end; ++row) {
    const Lanes change = *row;
    const Lanes absent = change == none;
    Lanes bucket = ((change >> 1) - peaks.begin_ns_) >> shift;
    bucket = bucket < zero ? zero : bucket;
    bucket = bucket > max ? max : bucket;
    const Lanes step = ~absent & ((change & 1) != zero ? Lanes{} + 1 : Lanes{} + static_cast<int64_t>(kFall));
    const Lanes early = absent ? max : bucket;
    const Lanes late = absent ? zero : bucket;
    first = early < first ? early : first;
    last = late > last ? late : last;
    for (size_t lane = 0; lane < kLanes; ++lane) buckets[lane][bucket[lane]] += static_cast<uint64_t>(step[lane]);
  }
  Chunk& chunk = peaks.chunks_.emplace_back();
  store(chunk.first, first);
  store(chunk.last, last);
}

CONTRAFACT_LANE_DISPATCH(LanePeaks::Machine, count, LanePeaks&)

void LanePeaks::count(size_t rows) {
  CHECK(rows <= rows_.size());
  while ((chunks_.size() + 1) * kChunk <= rows) Machine::dispatch_count(*this);
}

uint32_t LanePeaks::find(size_t lane) {
  constexpr size_t kAtATime = 64;
  int64_t count = 0, peak = 0;
  hot_.clear();
  uint64_t* const buckets = buckets_of(lane);
  for (uint32_t i = 0; i <= bucket_max_; ++i) {
    const auto rises = static_cast<int64_t>(buckets[i] & kLower);
    const auto falls = static_cast<int64_t>(buckets[i] >> 32);
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

// One change after the other, in the hot buckets [first, last).
void LanePeaks::look_into(size_t lane, size_t first, size_t last) {
  std::vector<uint32_t> buckets;
  for (size_t i = first; i < last; ++i) buckets.push_back(hot_[i].bucket);
  std::sort(buckets.begin(), buckets.end());
  for (uint32_t bucket : buckets) wanted_[bucket] = 1;
  const auto bucket_of = [&](int64_t time_ns) {
    return std::clamp<int64_t>((time_ns - begin_ns_) >> shift_, 0, static_cast<int64_t>(bucket_max_));
  };
  changes_.clear();
  for (size_t i = 0; i < chunks_.size(); ++i) {
    const auto at = std::lower_bound(buckets.begin(), buckets.end(), chunks_[i].first.lane[lane]);
    if (at == buckets.end() || *at > chunks_[i].last.lane[lane]) continue;
    const LaneRow* const rows = rows_.data() + i * kChunk;
    for (size_t k = 0; k < kChunk; ++k) {
      const int64_t change = rows[k].lane[lane];
      if (change != kNever && wanted_[static_cast<size_t>(bucket_of(change >> 1))])
        changes_.push_back({change >> 1, change & 1 ? 1 : -1});
    }
  }
  for (uint32_t bucket : buckets) wanted_[bucket] = 0;
  std::sort(changes_.begin(), changes_.end(), [](const Change& x, const Change& y) { return x.time_ns < y.time_ns; });
  int64_t bucket = -1, count = 0;
  for (size_t i = 0; i < changes_.size(); ++i) {
    if (bucket_of(changes_[i].time_ns) != bucket) {
      bucket = bucket_of(changes_[i].time_ns);
      count = static_cast<int64_t>(buckets_of(lane)[bucket]);
    }
    count += changes_[i].step;
    const bool held = i + 1 == changes_.size() || changes_[i + 1].time_ns != changes_[i].time_ns;
    if (held) peak_ = std::max(peak_, count);
  }
}

}  // namespace contrafact::graph
