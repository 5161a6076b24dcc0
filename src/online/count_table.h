// CountTable: open addressing from a 64-bit key to a small sum. Nothing is allocated once the table has its size.
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
    uint64_t place = place_of(key);
    while (slots_[place].key != key) {
      if (slots_[place].key == 0) return add(key);
      place = (place + 1) & mask_;
    }
    return slots_[place].sum;
  }

  template <typename Each>
  void for_each(Each each) const {
    for (const Slot& slot : slots_) {
      if (slot.key != 0) each(slot.key, slot.sum);
    }
  }
  size_t size() const { return size_; }

 private:
  struct Slot {
    uint64_t key = 0;
    Sum sum;
  };
  static constexpr size_t kSlotsMin = 256;

  uint64_t place_of(uint64_t key) const {
    return (key * 0x9E3779B97F4A7C15u) >> 32 & mask_;  // Fibonacci hashing
  }
  // Half of the places stay free, so that every search ends soon.
  Sum& add(uint64_t key) {
    if ((size_ + 1) * 2 > slots_.size()) grow();
    uint64_t place = place_of(key);
    while (slots_[place].key != 0) place = (place + 1) & mask_;
    slots_[place].key = key;
    ++size_;
    return slots_[place].sum;
  }
  void grow() {
    const std::vector<Slot> old = std::move(slots_);
    slots_.assign(old.size() * 2, Slot());
    mask_ = slots_.size() - 1;
    for (const Slot& slot : old) {
      if (slot.key == 0) continue;
      uint64_t place = place_of(slot.key);
      while (slots_[place].key != 0) place = (place + 1) & mask_;
      slots_[place] = slot;
    }
  }

  std::vector<Slot> slots_ = std::vector<Slot>(kSlotsMin);
  uint64_t mask_ = kSlotsMin - 1;
  size_t size_ = 0;
};

}  // namespace contrafact::online
