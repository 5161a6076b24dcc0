// CountTable: open addressing from a 64-bit key to a small sum, for tables that are filled and emptied once for each
// buffer: emptying costs what was filled, and nothing is allocated once the table has its size.
//
// Not thread-safe. The key 0 is not allowed.
#pragma once

#include <cstdint>
#include <vector>

namespace contrafact::online {

template <typename Sum>
class CountTable {
 public:
  // The sum of `key`, a Sum() if it is new. Valid until the next call.
  Sum& at(uint64_t key) {
    if (used_.size() * 2 >= slots_.size()) grow();
    uint32_t place = place_of(key);
    while (slots_[place].key != key) {
      if (slots_[place].key == 0) {
        slots_[place] = {key, Sum()};
        used_.push_back(place);
        break;
      }
      place = (place + 1) & mask_;
    }
    return slots_[place].sum;
  }

  template <typename Each>
  void for_each(Each each) const {
    for (const uint32_t place : used_) each(slots_[place].key, slots_[place].sum);
  }
  size_t size() const { return used_.size(); }
  void clear() {
    for (const uint32_t place : used_) slots_[place].key = 0;
    used_.clear();
  }

 private:
  struct Slot {
    uint64_t key = 0;
    Sum sum;
  };
  static constexpr size_t kSlotsMin = 256;

  uint32_t place_of(uint64_t key) const {
    return static_cast<uint32_t>((key * 0x9E3779B97F4A7C15u) >> 32) & mask_;  // Fibonacci hashing
  }
  void grow() {
    std::vector<Slot> old = std::move(slots_);
    const std::vector<uint32_t> used = std::move(used_);
    slots_.assign(old.empty() ? kSlotsMin : old.size() * 2, Slot());
    mask_ = static_cast<uint32_t>(slots_.size() - 1);
    used_.clear();
    used_.reserve(slots_.size() / 2 + 1);
    for (const uint32_t place : used) at(old[place].key) = old[place].sum;
  }

  std::vector<Slot> slots_;
  std::vector<uint32_t> used_;  // places of the keys, in the order in which they came
  uint32_t mask_ = 0;
};

}  // namespace contrafact::online
