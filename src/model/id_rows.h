// IdRows: which row of a table an id of a file names. A file numbers its rows without holes, but damage makes holes,
// and a hostile file may claim any number: a table holds only the rows that the file holds, so that no id costs memory.
//
// Immutable after loading, then safe to read from any number of threads. A look-up is a comparison in a file without
// holes, else a binary search over the runs of ids between the holes.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace contrafact::model {

class IdRows {
 public:
  static constexpr uint32_t kNone = UINT32_MAX;

  IdRows() = default;
  // The ids are the rows' numbers.
  explicit IdRows(size_t rows) : dense_(static_cast<uint32_t>(rows)), rows_(dense_) {}

  // The next `count` rows have the ids from `first` on. False, and nothing happens, if these do not follow the ids so
  // far, or there would be more rows than 32 bits count.
  bool add(uint32_t first, size_t count) {
    const uint32_t next = runs_.empty() ? dense_ : runs_.back().end;
    if (first < next || count > kNone - 1 - first) return false;
    append(first, static_cast<uint32_t>(count));
    return true;
  }

  // Rows that stand for lost ones, behind all others. REQUIRES: ascending ids without a row; nothing is added later.
  void add_lost(const std::vector<uint32_t>& ids) {
    const size_t before = runs_.size();
    for (const uint32_t id : ids) {
      if (runs_.size() > before && runs_.back().end == id) {
        ++runs_.back().end;
      } else {
        runs_.push_back({id, id + 1, rows_});
      }
      ++rows_;
    }
    std::inplace_merge(runs_.begin(), runs_.begin() + static_cast<ptrdiff_t>(before), runs_.end(),
                       [](const Run& x, const Run& y) { return x.begin < y.begin; });
  }

  uint32_t row_of(uint32_t id) const {
    if (id < dense_) [[likely]]
      return id;
    return runs_.empty() ? kNone : find(id);
  }
  uint32_t rows() const { return rows_; }

 private:
  struct Run {
    uint32_t begin, end;  // ids
    uint32_t row;         // of the first
  };

  void append(uint32_t first, uint32_t count) {
    if (runs_.empty() && first == dense_) {
      dense_ += count;
    } else if (!runs_.empty() && first == runs_.back().end) {
      runs_.back().end += count;
    } else {
      runs_.push_back({first, first + count, rows_});
    }
    rows_ += count;
  }
  uint32_t find(uint32_t id) const {
    const auto after = std::upper_bound(runs_.begin(), runs_.end(), id,
                                        [](uint32_t wanted, const Run& run) { return wanted < run.begin; });
    if (after == runs_.begin()) return kNone;
    const Run& run = *(after - 1);
    return id < run.end ? run.row + (id - run.begin) : kNone;
  }

  uint32_t dense_ = 0;  // ids below are their rows' numbers
  uint32_t rows_ = 0;
  std::vector<Run> runs_;  // the others, ascending
};

}  // namespace contrafact::model
