#include "replay/enforce/turns.h"

#include <time.h>

namespace contrafact::replay {

// A thread joins before the one that lets it join goes on, so a look during which none joined saw every thread's place:
// else one seen as away could have joined before the time that another one's clock, seen after that, has passed.
bool Turns::is_first(size_t thread) const {
  const uint64_t joins = joins_.load(std::memory_order_acquire);
  const int64_t own_ns = clocks_[thread].ns.load(std::memory_order_relaxed);
  for (size_t i = 0; i < count_; ++i) {
    if (i == thread) continue;
    const int64_t ns = clocks_[i].ns.load(std::memory_order_acquire);
    if (ns < own_ns || (ns == own_ns && i < thread)) return false;
  }
  return joins_.load(std::memory_order_acquire) == joins;
}

void Turns::wait(size_t thread) const {
  constexpr int kSpins = 200;
  constexpr timespec kRest{0, 10'000};
  for (int spins = 0; !is_first(thread); ++spins) {
    if (spins < kSpins) {
      __builtin_ia32_pause();
    } else {
      nanosleep(&kRest, nullptr);  // whose turn it is may have no core
    }
  }
}

}  // namespace contrafact::replay
