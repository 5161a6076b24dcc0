// CacheDoor: which threads may enter the code cache, and when nobody is inside, so that it may be emptied.
//
//   thread                               who empties
//   mode := in_cache                     closed := true
//   (the kernel orders the two           (membarrier)
//    on all threads)
//   closed? mode := native, stay out     any mode but native? try again later
//
// So either the thread sees that the door is closed, or the other one sees that the thread is inside. For each attempt
// the door is closed for kClosedNs of each kClearEveryNs at most; code runs natively meanwhile.
//
// Thread safety: all of it, where nothing else is said. enter() looks at wants_attention() alone: one load.
#pragma once

#include <atomic>
#include <cstdint>

#include "translate/thread.h"

namespace contrafact::translate {

class CacheDoor {
 public:
  // Whoever enters must look closer: disabled, or to be emptied.
  bool wants_attention() const { return attention_.load(std::memory_order_relaxed); }
  bool is_closed() const { return closed_.load(std::memory_order_relaxed); }
  bool is_disabled() const { return disabled_.load(std::memory_order_relaxed) != 0; }
  // Locked for good, or until enable() has been called as often.
  void disable() {
    disabled_.fetch_add(1);
    attention_.store(true);
  }

  // Whether to ask try_close().
  bool is_time_to_look(int64_t now_ns) const { return now_ns >= look_at_ns_.load(std::memory_order_relaxed); }

  // Under the Translator's lock:
  void enable();  // undoes disable() before a restriction that then failed
  // The cache shall be emptied; not done where the kernel has no barriers.
  void want_clear();
  // Closes the door. True if nobody is inside: then it stays closed until open(). Else a later call opens it again.
  // `threads`: all that may enter; `process`: ours. False too if nothing is to be emptied.
  bool try_close(int64_t now_ns, const Thread* threads, int process);
  // The cache has been emptied.
  void open();

 private:
  static constexpr int64_t kClosedNs = 5'000'000, kClearEveryNs = 100'000'000, kLookEveryNs = 500'000;

  std::atomic<uint32_t> disabled_{0};
  std::atomic<bool> attention_{false};
  std::atomic<bool> closed_{false};
  std::atomic<int64_t> look_at_ns_{0};
  bool wants_clear_ = false;
  int64_t closed_until_ns_ = 0;
};

}  // namespace contrafact::translate
