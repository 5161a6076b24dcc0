#include <linux/futex.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "deferred/wakeup.h"

namespace contrafact::deferred {

static_assert(sizeof(std::atomic<uint32_t>) == sizeof(uint32_t), "the kernel reads it as a plain number");

void Wakeup::wake() {
  if (requested_.load(std::memory_order_relaxed) != 0) return;
  if (requested_.exchange(1, std::memory_order_release) != 0) return;
  syscall(SYS_futex, &requested_, FUTEX_WAKE_PRIVATE, 1, nullptr, nullptr, 0);
}

void Wakeup::sleep(int64_t timeout_ns) {
  const timespec timeout{timeout_ns / 1'000'000'000, timeout_ns % 1'000'000'000};
  if (requested_.load(std::memory_order_acquire) == 0) {
    syscall(SYS_futex, &requested_, FUTEX_WAIT_PRIVATE, 0, &timeout, nullptr, 0);
  }
  requested_.exchange(0, std::memory_order_acquire);
}

}  // namespace contrafact::deferred
