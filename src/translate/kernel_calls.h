// KernelCalls: whether this library may still ask the kernel for something on the program's threads. A program that
// restricts its system calls (seccomp) may be killed for each that it did not foresee; the filter may bind all threads
// at once, wherever they are. So forbid() is called before that, and returns once no thread is in such a call any more:
//
//   thread                                   who restricts
//   busy := busy + 1                         forbidden := true
//   forbidden? busy := busy - 1, go without  busy? wait
//   system calls; busy := busy - 1
//
// Where the restriction fails, allow() takes forbid() back, unless a thread has gone without a call meanwhile: that
// thread may have missed that code has changed.
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
  bool are_forbidden() const { return state_.load() >= kForbidden; }
  bool is_busy() const { return busy_.load() != 0; }
  void forbid() { state_.fetch_add(kForbidden); }
  // Takes one forbid() back; false if that cannot be, because a thread went without.
  bool allow() {
    uint32_t state = state_.load();
    while (state != (kForbidden | kWentWithout)) {
      if (state_.compare_exchange_weak(state, state - kForbidden)) return true;
    }
    return false;
  }
  bool is_forbidden_once() const { return state_.load() == kForbidden; }

  // The scope around allow(): a thread that calls forbid() meanwhile waits for its end.
  class Busy {
   public:
    explicit Busy(KernelCalls& calls) : calls_(calls) { calls_.busy_.fetch_add(1); }
    ~Busy() { calls_.busy_.fetch_sub(1); }
    Busy(const Busy&) = delete;
    Busy& operator=(const Busy&) = delete;

   private:
    KernelCalls& calls_;
  };

 private:
  friend class KernelWork;
  static constexpr uint32_t kWentWithout = 1, kForbidden = 2;

  // False: the thread goes without.
  bool ask() { return !are_forbidden() || state_.fetch_or(kWentWithout) < kForbidden; }

  std::atomic<uint32_t> state_{0};  // kForbidden for each that forbids them
  std::atomic<int32_t> busy_{0};
};

// The scope of system calls of ours. Where it is not allowed, its calls must not be made.
class KernelWork {
 public:
  explicit KernelWork(KernelCalls& calls) : calls_(calls) {
    calls_.busy_.fetch_add(1);
    is_allowed_ = calls_.ask();
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
