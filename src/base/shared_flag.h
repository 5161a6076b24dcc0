// A yes or no in memory that another process may have overwritten: any byte but 0 is yes. A `bool` would have no
// defined value there.
//
// Thread-safe, as std::atomic<bool>. Assigned and read as a plain bool it is relaxed.
#pragma once

#include <atomic>
#include <cstdint>

namespace contrafact::base {

class SharedFlag {
 public:
  constexpr SharedFlag() = default;
  SharedFlag& operator=(bool value) {
    store(value, std::memory_order_relaxed);
    return *this;
  }
  operator bool() const { return load(std::memory_order_relaxed); }

  bool load(std::memory_order order = std::memory_order_seq_cst) const { return byte_.load(order) != 0; }
  void store(bool value, std::memory_order order = std::memory_order_seq_cst) { byte_.store(value, order); }
  bool exchange(bool value, std::memory_order order = std::memory_order_seq_cst) {
    return byte_.exchange(value, order) != 0;
  }

 private:
  std::atomic<uint8_t> byte_{0};
};

}  // namespace contrafact::base
