// The order of the threads' synchronisation under the deterministic strategy: a thread has its turn when its logical
// clock is the least of all threads that are not waiting for another thread; ties go to the lower number. Clocks are
// compared by quanta of logical time: where locks are requested faster than cores change hands, each thread does all
// its synchronisation within a quantum at one go. Thread-safe.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>

namespace contrafact::replay {

class Turns {
 public:
  // `quantum_bits`: a quantum has 2^quantum_bits ns.
  Turns(size_t threads, int quantum_bits)
      : count_(threads), quantum_bits_(quantum_bits), clocks_(std::make_unique<Clock[]>(threads)) {
    for (size_t i = 0; i < threads; ++i) clocks_[i].ns.store(kAway);
  }

  std::atomic<int64_t>& clock(size_t thread) { return clocks_[thread].ns; }

  // The thread takes part from here on. To be called by the thread that starts it or lets it go on, at the caller's
  // turn, so that the new thread's place does not depend on when it gets its core.
  void join_at(size_t thread, int64_t clock_ns) {
    clock(thread).store(clock_ns, std::memory_order_release);
    joins_.fetch_add(1, std::memory_order_release);
  }
  void leave(size_t thread) { clock(thread).store(kAway, std::memory_order_release); }

  // Returns when it is the thread's turn.
  void wait(size_t thread) const;

  // The place, in the order of turns, of the thread's action at this logical time; grows with the time. No two threads
  // have a place in common.
  int64_t place(size_t thread, int64_t clock_ns) const {
    return (clock_ns >> quantum_bits_) * static_cast<int64_t>(count_) + static_cast<int64_t>(thread);
  }
  // The logical time from which on the thread's place is later than `place`.
  int64_t after(size_t thread, int64_t place) const {
    const auto count = static_cast<int64_t>(count_);
    const int64_t quantum = place / count + (place % count >= static_cast<int64_t>(thread));
    return quantum << quantum_bits_;
  }

 private:
  static constexpr int64_t kAway = INT64_MAX;
  struct alignas(64) Clock {
    std::atomic<int64_t> ns;
  };
  bool is_first(size_t thread) const;

  const size_t count_;
  const int quantum_bits_;
  std::unique_ptr<Clock[]> clocks_;
  std::atomic<uint64_t> joins_{0};  // so far: a thread that looks at the clocks one by one misses none
};

}  // namespace contrafact::replay
