// KernelCalls: whether this library may still ask the kernel for something on the program's threads. A program that
// restricts its system calls (seccomp) may be killed for each that it did not foresee; the filter may bind all threads
// at once, wherever they are. So forbid() comes before it, and returns when none is at it any more:
//
//   thread                                   who restricts
//   busy := busy + 1                         forbidden := true
//   forbidden? busy := busy - 1, go without  busy? wait
//   system calls; busy := busy - 1
//
// Threads in translated code have a mark of their own for busy, and one for forbidden (Thread::asks_kernel,
// may_not_ask): slow_path.cc's assembly looks at those.
//
// Thread safety: all of it.
#pragma once

#include <atomic>
#include <cstdint>

namespace contrafact::translate {

class KernelCalls {
 public:
  bool are_forbidden() const { return forbidden_.load(); }
  bool is_busy() const { return busy_.load() != 0; }
  void forbid() { forbidden_.store(true); }

 private:
  friend class KernelWork;
  std::atomic<bool> forbidden_{false};
  std::atomic<int32_t> busy_{0};
};

// The scope of system calls of ours. What it surrounds must not be done where it is not allowed.
class KernelWork {
 public:
  explicit KernelWork(KernelCalls& calls) : calls_(calls) {
    calls_.busy_.fetch_add(1);
    is_allowed_ = !calls_.are_forbidden();
    if (!is_allowed_) calls_.busy_.fetch_sub(1);
  }
  ~KernelWork() {
    if (is_allowed_) calls_.busy_.fetch_sub(1);
  }
  KernelWork(const KernelWork&) = delete;
  KernelWork& operator=(const KernelWork&) = delete;
  bool is_allowed() const { return is_allowed_; }

 private:
  KernelCalls& calls_;
  bool is_allowed_;
};

}  // namespace contrafact::translate
