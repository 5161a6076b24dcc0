// The order of what threads do to each other under the deterministic strategy: a thread may do it when its logical
// clock is the least of all that are not waiting for another thread; ties go to the lower number. Thread-safe.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>

namespace contrafact::replay {

class Turns {
 public:
  explicit Turns(size_t threads) : count_(threads), clocks_(std::make_unique<Clock[]>(threads)) {
    for (size_t i = 0; i < threads; ++i) clocks_[i].ns.store(kAway);
  }

  std::atomic<int64_t>& clock(size_t thread) { return clocks_[thread].ns; }

  // The thread takes part from here on. To be called by whoever starts it or lets it go on, at that one's turn: so the
  // thread's place does not depend on when it gets its core.
  void join_at(size_t thread, int64_t clock_ns) {
    clock(thread).store(clock_ns, std::memory_order_release);
    joins_.fetch_add(1, std::memory_order_release);
  }
  void leave(size_t thread) { clock(thread).store(kAway, std::memory_order_release); }

  // Returns when it is the thread's turn.
  void wait(size_t thread) const;

 private:
  static constexpr int64_t kAway = INT64_MAX;
  struct alignas(64) Clock {
    std::atomic<int64_t> ns;
  };
  bool is_first(size_t thread) const;

  const size_t count_;
  std::unique_ptr<Clock[]> clocks_;
  std::atomic<uint64_t> joins_{0};  // so far: who looks at the clocks one by one misses none
};

}  // namespace contrafact::replay
