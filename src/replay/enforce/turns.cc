#include "replay/enforce/turns.h"

#include <time.h>

#include <algorithm>

namespace contrafact::replay {

// A thread joins before the one that lets it join goes on. So a look during which none joined saw every thread's place;
// else a thread seen as away could have joined earlier than another one's clock, read after that, shows.
bool Turns::is_first(size_t thread) const {
  const uint64_t joins = joins_.load(std::memory_order_acquire);
  const int64_t own = clocks_[thread].ns.load(std::memory_order_relaxed) >> quantum_bits_;
  for (size_t i = 0; i < count_; ++i) {
    if (i == thread) continue;
    const int64_t quantum = clocks_[i].ns.load(std::memory_order_acquire) >> quantum_bits_;
    if (quantum < own || (quantum == own && i < thread)) return false;
  }
  return joins_.load(std::memory_order_acquire) == joins;
}

// The thread whose turn it is may have no core. Where many wait for theirs, looking must not take the cores from it: each looks ever less
// often.
void Turns::wait(size_t thread) const {
  constexpr int kSpins = 200;
  constexpr long kRestNs = 10'000, kRestMostNs = 160'000;
  for (int spins = 0; spins < kSpins; ++spins) {
    if (is_first(thread)) return;
    __builtin_ia32_pause();
  }
  for (timespec rest{0, kRestNs}; !is_first(thread); rest.tv_nsec = std::min(2 * rest.tv_nsec, kRestMostNs))
    nanosleep(&rest, nullptr);
}

}  // namespace contrafact::replay
