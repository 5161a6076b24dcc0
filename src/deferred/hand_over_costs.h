// HandOverCosts: whether it pays to hand a filled buffer to another thread, by what both ways have lately cost.
//
// Handing over costs the producer a lock and often a system call that wakes a consumer; running the buffer in place
// costs it the calls. A measured time may be a hundred times too long, where the system gave the core to another thread
// meanwhile, but is never too short: so the least of the last few counts. Old ones are forgotten: costs hold for a
// phase of the program, and a buffer is handed over now and then to learn them again.
//
// Thread safety: all of it; relaxed, for a measurement that is lost costs nothing.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>
#include <limits>

namespace contrafact::deferred {

class HandOverCosts {
 public:
  void ran(uint32_t calls, uint64_t ns) {
    if (calls > 0) run_.note(ns * kPerCall / calls);
  }
  void handed_over(uint64_t ns) { hand_over_.note(ns); }

  // True while a cost is unknown, to learn it.
  bool pays(uint32_t calls) {
    const uint64_t run = run_.least(), hand_over = hand_over_.least();
    if (run == kUnknown || hand_over == kUnknown || run * calls > hand_over * kPerCall) return true;
    return asked_.fetch_add(1, std::memory_order_relaxed) % kLearnEvery == 0;
  }

 private:
  static constexpr uint64_t kUnknown = std::numeric_limits<uint64_t>::max();
  static constexpr uint64_t kPerCall = 1024;   // costs of a call are kept in 1024ths of a nanosecond
  static constexpr uint32_t kLearnEvery = 64;  // so that a hand-over of ten times a buffer's cost adds a sixth at most

  class Lately {
   public:
    void note(uint64_t value) {
      const uint32_t place = next_.fetch_add(1, std::memory_order_relaxed);
      values_[place % kKept].store(value, std::memory_order_relaxed);
    }
    uint64_t least() const {
      uint64_t least = kUnknown;
      for (const std::atomic<uint64_t>& value : values_) least = std::min(least, value.load(std::memory_order_relaxed));
      return least;
    }

   private:
    static constexpr size_t kKept = 8;  // one line
    std::atomic<uint32_t> next_{0};
    alignas(64) std::array<std::atomic<uint64_t>, kKept> values_ = {kUnknown, kUnknown, kUnknown, kUnknown,
                                                                    kUnknown, kUnknown, kUnknown, kUnknown};
  };

  Lately run_, hand_over_;
  std::atomic<uint32_t> asked_{0};
};

}  // namespace contrafact::deferred
