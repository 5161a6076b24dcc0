// Wakeup: lets any thread end another's timed sleep without a lock. A wake before the sleep is not lost.
#pragma once

#include <atomic>
#include <cstdint>

namespace contrafact::deferred {

class Wakeup {
 public:
  // At most one system call between two sleeps, whoever calls how often.
  void wake();
  // One thread only. Returns when woken, after `timeout_ns`, or early for no reason.
  void sleep(int64_t timeout_ns);

 private:
  std::atomic<uint32_t> requested_{0};
};

}  // namespace contrafact::deferred
