// EventClock: CLOCK_MONOTONIC for the times of events, read from the processor's time stamp counter where that is
// invariant and the kernel trusts it (8 ns instead of the C library's 20), else from the kernel.
//
// The counter becomes nanoseconds by a line, ns = begin_ns + (ticks - begin_ticks) * slope. At each pass the recording
// process compares it with the kernel's clock. 50 ms after a line began, it draws the next one, which begins a while
// later, where the line before has arrived by then, and aims at the kernel's clock a second ahead. So time never goes
// back in a thread, nor (but for invariant 2) between threads, and steps ahead only where it fell far behind. It
// follows the kernel's clock within some 100 ns where that process runs, as the fact clock.error_ns says. The kernel's
// clock is used until two readings of it are 15 ms apart.
//
// It lies in memory that the recorded processes and the one that steers share (process_page.h).
//
// Thread safety: reading on any thread and in signal handlers, without locks or writes; start() and steer() on one
// thread at a time.
// Invariants:
//  1. newest_ is the number of lines drawn so far; line i is in its place from before newest_ becomes i until it is
//     i + kLines - 1.
//  2. A line begins later than it is published: a reader of the counter that does not see it needs the one before.
//     The steering thread may be held up between the two for longer than kNoticeNs: that is counted (late()), and then
//     times of different threads may be out of order by the difference of the two lines there, some nanoseconds.
#pragma once

#include <x86intrin.h>

#include <atomic>
#include <cstdint>

#include "base/clock.h"
#include "base/shared_flag.h"

namespace contrafact::recorder {

// Readings of the two clocks at the same time.
struct ClockPair {
  uint64_t ticks = 0;
  int64_t ns = 0;
};

// The closest of a few; each is off by less than the time that it took, 50 ns as a rule.
ClockPair read_clock_pair();

// Whether the counter may be used; else the reason why not, which a person can read.
const char* why_not_the_counter();

class EventClock {
 public:
  // Without the counter it is the kernel's clock for good.
  void start(bool use_counter, ClockPair pair);
  void steer(ClockPair pair);

  // The time after everything that the thread did before: a lock's acquisition is not before its last release.
  int64_t now_ns() const {
    if (!uses_counter_) return base::monotonic_ns();
    _mm_lfence();
    return ns_at(__rdtsc());
  }
  // The same, but the processor may have read it some instructions early. For operations that end with a locked
  // instruction or a store behind the reading, as a release does.
  int64_t earlier_ns() const { return uses_counter_ ? ns_at(__rdtsc()) : base::monotonic_ns(); }
  // REQUIRES: `ticks` was read before the call, or has not come yet; uses_counter().
  int64_t ns_at(uint64_t ticks) const {
    const uint32_t newest = newest_.load(std::memory_order_acquire);
    const Line& line = lines_[newest % kLines];
    const uint64_t begin_ticks = line.begin_ticks.load(std::memory_order_relaxed);
    // Unsigned: where the reading is before the line, the result may be anything, and is thrown away.
    const auto ns = static_cast<int64_t>(
        static_cast<uint64_t>(line.begin_ns.load(std::memory_order_relaxed)) +
        static_cast<uint64_t>(scaled(ticks - begin_ticks, line.slope.load(std::memory_order_relaxed))));
    // Signed: before the line, and far before it.
    if (newest == 0 || static_cast<int64_t>(ticks - begin_ticks) < 0 || !is_there(newest)) [[unlikely]]
      return slow_ns(ticks);
    return ns;
  }

  bool uses_counter() const { return uses_counter_; }
  // The largest difference from the kernel's clock that steer() has met.
  int64_t error_ns() const { return error_ns_.load(std::memory_order_relaxed); }
  uint32_t late() const { return late_.load(std::memory_order_relaxed); }

 private:
  static constexpr uint32_t kLines = 8;
  static constexpr int64_t kSecondNs = 1'000'000'000;
  static constexpr int64_t kFirstNs = 15'000'000;   // between two readings that say what a tick is, to 4 parts in 10^6
  static constexpr int64_t kLineNs = 50'000'000;    // that a line lasts, at least
  static constexpr int64_t kNoticeNs = 10'000'000;  // from the drawing of a line to its begin
  static constexpr int64_t kAnchorNs = 5 * kSecondNs;
  static constexpr int64_t kStepNs =
      1'000'000;  // behind by more than this: the machine was stopped, and time steps ahead
  static constexpr int kSlopeBits = 32;

  struct Line {
    std::atomic<uint64_t> begin_ticks{0};
    std::atomic<int64_t> begin_ns{0};
    std::atomic<uint64_t> slope{0};  // 2^-32 ns a tick
  };

  static int64_t scaled(uint64_t ticks, uint64_t slope) {
    return static_cast<int64_t>(static_cast<unsigned __int128>(ticks) * slope >> kSlopeBits);
  }
  // What was read of line `number`, or of the one before it, was not overwritten meanwhile.
  bool is_there(uint32_t number) const { return newest_.load(std::memory_order_acquire) - number < kLines - 2; }
  int64_t slow_ns(uint64_t ticks) const;
  int64_t ns_on(uint32_t number, uint64_t ticks) const;  // REQUIRES: `ticks` is not before the line
  void draw(uint32_t number, ClockPair pair, double ticks_per_ns);

  std::atomic<uint32_t> newest_{0};
  base::SharedFlag uses_counter_;
  std::atomic<uint32_t> late_{0};
  std::atomic<int64_t> error_ns_{0};
  ClockPair anchor_, next_anchor_;  // of 5 to 10 seconds ago, and of up to 5
  double first_ticks_per_ns_ = 0;
  Line lines_[kLines];
};

}  // namespace contrafact::recorder
