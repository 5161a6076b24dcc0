// PendingChanges: changes to mappings that the program is about to make, or makes right now. From the moment that a
// library's memory is free until the thread that freed it is back, another thread may put other code there, and run it:
// so what is known of that memory counts as unknown from before the change until after it.
//
// Thread safety: none. Allocates nothing.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace contrafact::translate {

class PendingChanges {
 public:
  void add(uint64_t begin, uint64_t end) {
    if (count_ == kRangesMax) {
      ++everywhere_;
      return;
    }
    ranges_[count_++] = {begin, end};
  }
  // One that was added.
  void remove(uint64_t begin, uint64_t end) {
    for (size_t i = 0; i < count_; ++i) {
      if (ranges_[i].begin != begin || ranges_[i].end != end) continue;
      ranges_[i] = ranges_[--count_];
      return;
    }
    if (everywhere_ > 0) --everywhere_;
  }

  bool is_empty() const { return count_ == 0 && everywhere_ == 0; }
  bool holds(uint64_t address) const {
    return everywhere_ > 0 || std::any_of(ranges_, ranges_ + count_, [&](const Range& range) {
             return address >= range.begin && address < range.end;
           });
  }
  // Where the next one begins behind `address`; `end` if none does before that.
  uint64_t next_behind(uint64_t address, uint64_t end) const {
    for (size_t i = 0; i < count_; ++i) {
      if (ranges_[i].begin > address) end = std::min(end, ranges_[i].begin);
    }
    return end;
  }
  template <typename Each>
  void each(Each each) const {
    if (everywhere_ > 0) each(uint64_t{0}, UINT64_MAX);
    for (size_t i = 0; i < count_; ++i) each(ranges_[i].begin, ranges_[i].end);
  }

 private:
  static constexpr size_t kRangesMax = 64;  // of code, at one time: threads, as a rule

  struct Range {
    uint64_t begin, end;
  };
  Range ranges_[kRangesMax] = {};
  size_t count_ = 0;
  size_t everywhere_ = 0;  // those for which there was no room
};

}  // namespace contrafact::translate
