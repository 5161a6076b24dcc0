// HeldLocks: which locks a thread holds, in any order. A lock that is acquired again is listed twice.
//
// Thread safety: its thread's. Bounds: beyond kListedMax it knows how many there are, not which.
#pragma once

#include <cstddef>
#include <cstdint>

namespace contrafact::agent_native {

class HeldLocks {
 public:
  static constexpr size_t kListedMax = 32;

  void take(uint64_t lock) {
    if (listed_count_ < kListedMax) {
      listed_[listed_count_++] = lock;
    } else {
      ++unlisted_;
    }
  }
  // If the thread does not hold the lock, it releases that for another thread: nothing changes.
  void give_up(uint64_t lock) {
    for (size_t i = listed_count_; i-- > 0;) {
      if (listed_[i] != lock) continue;
      listed_[i] = listed_[--listed_count_];
      return;
    }
    if (unlisted_ > 0) --unlisted_;
  }
  bool holds_only(uint64_t lock) const { return listed_count_ == 1 && unlisted_ == 0 && listed_[0] == lock; }
  bool holds_any() const { return listed_count_ + unlisted_ > 0; }

 private:
  uint64_t listed_[kListedMax];
  size_t listed_count_ = 0;
  size_t unlisted_ = 0;
};

}  // namespace contrafact::agent_native
