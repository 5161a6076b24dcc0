// SignalSafeGuard: a mutex that is held with all signals blocked, for a handler could otherwise ask for it again on the
// same thread, or leave with it by longjmp. It calls nothing of the C library, which may be what is being translated.
//
// Thread safety: all of it. The lock is an int that begins as 0; 1 is held, 2 held and waited for.
#pragma once

#include <linux/futex.h>
#include <signal.h>
#include <sys/syscall.h>

#include <atomic>
#include <cstdint>

#include "translate/raw_system_call.h"

namespace contrafact::translate {

class SignalSafeGuard {
 public:
  explicit SignalSafeGuard(std::atomic<int>& lock) : lock_(lock) {
    const uint64_t all = UINT64_MAX;
    raw_system_call(SYS_rt_sigprocmask, SIG_SETMASK, reinterpret_cast<long>(&all), reinterpret_cast<long>(&before_), 8);
    int seen = 0;
    if (lock_.compare_exchange_strong(seen, 1, std::memory_order_acquire)) return;
    while (lock_.exchange(2, std::memory_order_acquire) != 0) {
      raw_system_call(SYS_futex, reinterpret_cast<long>(&lock_), FUTEX_WAIT_PRIVATE, 2);
    }
  }
  ~SignalSafeGuard() {
    if (lock_.exchange(0, std::memory_order_release) == 2) {
      raw_system_call(SYS_futex, reinterpret_cast<long>(&lock_), FUTEX_WAKE_PRIVATE, 1);
    }
    raw_system_call(SYS_rt_sigprocmask, SIG_SETMASK, reinterpret_cast<long>(&before_), 0, 8);
  }
  SignalSafeGuard(const SignalSafeGuard&) = delete;
  SignalSafeGuard& operator=(const SignalSafeGuard&) = delete;

 private:
  std::atomic<int>& lock_;
  uint64_t before_ = 0;
};

}  // namespace contrafact::translate
