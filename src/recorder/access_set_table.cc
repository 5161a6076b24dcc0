#include "recorder/access_set_table.h"

#include <xxhash.h>

#include <algorithm>
#include <span>

#include "recorder/access_sets.h"
#include "recorder/addressed_calls.h"

namespace contrafact::recorder {

using format::AccessRange;
using format::SetGap;

void AccessSetTable::add_range(uint32_t stream, const uint32_t* words) {
  std::vector<AccessRange>& ranges = unfinished(stream);
  if (ranges.size() >= kAccessRangesSentMax) return;  // the count will not fit
  ranges.push_back({words[0] | uint64_t{words[1]} << 32, words[2], words[3]});
}

// A stream's calls come many at a time: its unfinished set is looked up only where the stream changes.
std::vector<AccessRange>& AccessSetTable::unfinished(uint32_t stream) {
  if (stream == stream_) return ranges_;
  if (!ranges_.empty()) parked_[stream_].swap(ranges_);
  stream_ = stream;
  if (const auto found = parked_.find(stream); found != parked_.end()) {
    ranges_.swap(found->second);
    parked_.erase(found);
  }
  return ranges_;
}

void AccessSetTable::forget(uint32_t stream) {
  unfinished(stream).clear();
}

uint32_t AccessSetTable::finish(uint32_t stream, const uint32_t* words) {
  const uint64_t sent_hash = words[0] | uint64_t{words[1]} << 32;
  const uint32_t count = words[3];
  if (count == kAccessesKnown) {
    const uint32_t row = by_sent_hash_.find(sent_hash);
    return row == UINT32_MAX ? lost() : row;
  }
  std::vector<AccessRange>& ranges = unfinished(stream);
  const uint32_t row = ranges.size() == count && words[2] <= static_cast<uint32_t>(format::kSetGapLast)
                           ? row_of(sent_hash, static_cast<SetGap>(words[2]), ranges)
                           : lost();
  ranges.clear();
  return row;
}

uint32_t AccessSetTable::row_of(uint64_t sent_hash, SetGap gap, std::vector<AccessRange>& ranges) {
  uint32_t row = by_sent_hash_.find(sent_hash);
  if (row == UINT32_MAX) {
    row = intern(gap, ranges);
    if (row == UINT32_MAX) return lost();
    if (sent_hash != 0 && sent_hashes_ < sets_max_) {
      ++sent_hashes_;
      by_sent_hash_.insert(sent_hash, row);
    }
  }
  return row;
}

// The row of what the thread accessed; UINT32_MAX if there is no room for another.
uint32_t AccessSetTable::intern(SetGap gap, std::vector<AccessRange>& ranges) {
  format::make_canonical(ranges);
  const auto seed = static_cast<uint64_t>(gap);
  const uint64_t hash =
      std::max<uint64_t>(XXH3_64bits_withSeed(ranges.data(), ranges.size() * sizeof(AccessRange), seed), 1);
  if (const uint32_t known = by_content_hash_.find(hash); known != UINT32_MAX) return known;
  if (rows_ >= sets_max_) return UINT32_MAX;
  const uint32_t row = add_row(gap, ranges);
  by_content_hash_.insert(hash, row);
  return row;
}

uint32_t AccessSetTable::add_row(SetGap gap, const std::vector<AccessRange>& ranges) {
  const size_t begin = new_ranges_.size();
  new_ranges_.insert(new_ranges_.end(), ranges.begin(), ranges.end());
  new_rows_.push_back({gap, begin, new_ranges_.size()});
  return rows_++;
}

uint32_t AccessSetTable::lost() {
  ++sets_lost_;
  if (lost_row_ == UINT32_MAX) lost_row_ = add_row(SetGap::lost, {});
  return lost_row_;
}

std::vector<format::AccessSetRow> AccessSetTable::take_new() {
  taken_ranges_.swap(new_ranges_);
  new_ranges_.clear();
  std::vector<format::AccessSetRow> rows;
  rows.reserve(new_rows_.size());
  for (const NewRow& row : new_rows_) {
    rows.push_back({row.gap, std::span(taken_ranges_).subspan(row.ranges_begin, row.ranges_end - row.ranges_begin)});
  }
  new_rows_.clear();
  return rows;
}

}  // namespace contrafact::recorder
