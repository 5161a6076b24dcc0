// How many segments had complete sets, and why the others did not: counted by each thread, summed when the facts are
// written.
//
// Thread safety: a ThreadCounts is raised by one thread at a time; everything may be read, and taken, by any. Another
// thread uses the counts of an ended one again: there are as many as threads ran at once. They live as long as the
// SetCounts.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "format/access_set.h"

namespace contrafact::agent_native {

// A count that one thread raises and any may read: without the cost of a locked instruction.
class OwnCount {
 public:
  void raise() { count_.store(value() + 1, std::memory_order_relaxed); }
  uint64_t value() const { return count_.load(std::memory_order_relaxed); }

 private:
  std::atomic<uint64_t> count_{0};
};

class ThreadCounts {
 public:
  void raise(format::SetGap gap) { segments_[static_cast<size_t>(gap)].raise(); }
  void raise_outside() { outside_.raise(); }
  // The thread ends.
  void give_back() { is_used_.store(false, std::memory_order_release); }

 private:
  friend class SetCounts;
  ThreadCounts* next_ = nullptr;
  std::atomic<bool> is_used_{true};
  OwnCount segments_[static_cast<size_t>(format::kSetGapLast) + 1];
  OwnCount outside_;
};

class SetCounts {
 public:
  SetCounts() = default;
  ~SetCounts();
  SetCounts(const SetCounts&) = delete;
  SetCounts& operator=(const SetCounts&) = delete;

  // For the current thread, until it gives them back. Allocates.
  ThreadCounts* take();
  uint64_t segments(format::SetGap gap) const;
  uint64_t outside() const;  // critical sections that began outside of the windows

 private:
  template <typename Value>
  uint64_t sum(Value value) const;
  std::atomic<ThreadCounts*> threads_{nullptr};  // all that ever were
};

}  // namespace contrafact::agent_native
