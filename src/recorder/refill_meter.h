// What a core that was idle takes longer to compute: its caches are cold, because the core has slept or, on a virtual machine, the
// host has used it for others. A recording at a moderate load is full of that, a saturated program has none of it.
//
// The meter reads a mebibyte of memory of its own, line by line, right after it has read it and after sleeps of several lengths. The
// difference is the time to fill caches again. What a program touches between two waits may be less or more than that.
//
// Not thread-safe. In a step the thread sleeps for 10 ms at most, and computes for a millisecond if no other program has its core.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

namespace contrafact::recorder {

class RefillMeter {
 public:
  // The last of them is long enough that a longer sleep changes little.
  static constexpr std::array<int64_t, 3> kIdleNs = {500'000, 3'000'000, 10'000'000};

  using Clock = std::function<int64_t()>;      // in ns
  using Sleep = std::function<void(int64_t)>;  // for so many ns
  RefillMeter();
  RefillMeter(Clock clock, Sleep sleep) : clock_(std::move(clock)), sleep_(std::move(sleep)) {}

  // Sleeps once, and measures. REQUIRES: !done()
  void step();
  bool done() const { return steps_ == kEach * kIdleNs.size(); }
  // "IDLE:NS IDLE:NS ...": by how long the core was idle, what it then takes longer, both in ns. The medians of all steps.
  // REQUIRES: done()
  std::string text() const;

 private:
  static constexpr size_t kEach = 9;  // steps with the same sleep

  int64_t read_all();

  Clock clock_;
  Sleep sleep_;
  std::vector<uint64_t> memory_;  // as long as it is not done
  std::array<std::array<int64_t, kEach>, kIdleNs.size()> longer_ns_{};
  size_t steps_ = 0;
};

}  // namespace contrafact::recorder
