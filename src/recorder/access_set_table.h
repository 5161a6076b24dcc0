// AccessSetTable: the drainer's side of append_accesses(). Numbers sets by content, each a row of the trace's table.
//
// Thread safety: the drainer's thread only. Bounds: a hash and a number of each of at most `sets_max` sets, about 64
// bytes each. Sets beyond that are counted, and all stand for the same incomplete set. A stream's unfinished set is
// bounded by kAccessRangesSentMax.
#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "format/access_set.h"
#include "recorder/address_table.h"

namespace contrafact::recorder {

class AccessSetTable {
 public:
  explicit AccessSetTable(uint32_t sets_max) : sets_max_(sets_max) {}

  // The words of a kAccessRangeCall of producer `stream`.
  void add_range(uint32_t stream, const uint32_t* words);
  // The words of its `accesses` call: the number of the set's row.
  uint32_t finish(uint32_t stream, const uint32_t* words);
  // Events of the stream were lost.
  void forget(uint32_t stream);

  // Rows that were not taken yet, in the order of their numbers. They live until the next call of any member.
  std::vector<format::AccessSetRow> take_new();

  // So much is waiting that it should be taken before more is added: 4 MiB.
  bool is_heavy() const { return new_ranges_.size() >= (4 << 20) / sizeof(format::AccessRange); }

  uint64_t sets_lost() const { return sets_lost_; }  // events whose set could not be kept

 private:
  std::vector<format::AccessRange>& unfinished(uint32_t stream);
  uint32_t row_of(uint64_t sent_hash, format::SetGap gap, std::vector<format::AccessRange>& ranges);
  uint32_t intern(format::SetGap gap, std::vector<format::AccessRange>& ranges);
  uint32_t add_row(format::SetGap gap, const std::vector<format::AccessRange>& ranges);
  uint32_t lost();

  struct NewRow {
    format::SetGap gap;
    size_t ranges_begin, ranges_end;
  };
  const uint32_t sets_max_;
  AddressMap by_sent_hash_;     // of the sets as they were sent
  AddressMap by_content_hash_;  // of their canonical form
  uint32_t sent_hashes_ = 0;
  uint32_t rows_ = 0;
  uint32_t lost_row_ = UINT32_MAX;
  uint64_t sets_lost_ = 0;
  std::vector<NewRow> new_rows_;
  std::vector<format::AccessRange> new_ranges_;
  std::vector<format::AccessRange> taken_ranges_;
  uint32_t stream_ = UINT32_MAX;
  std::vector<format::AccessRange> ranges_;                                // of the unfinished set of stream_
  std::unordered_map<uint32_t, std::vector<format::AccessRange>> parked_;  // of other streams'
};

}  // namespace contrafact::recorder
