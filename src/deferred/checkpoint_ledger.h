// CheckpointLedger: which of one producer's buffers have been processed, when they may finish in any order. The counter
// C and the heap H of Deferred Methods, section 3.6: C is the number of consecutive buffers, from the first, that have
// been processed; H holds the numbers of those that finished while a smaller one was pending. A checkpoint is a number
// of a buffer, and has been reached once C is as large; so, other than in the paper, H need not hold checkpoints.
//
// Thread safety: none; progress.h adds it.
// Invariants: 1. no number in H is at most C + 1; 2. H is empty if all numbers that were completed are consecutive.
// Cost: constant where buffers finish in order, O(log n) with n in H where not.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <vector>

namespace contrafact::deferred {

class CheckpointLedger {
 public:
  // Buffer `number` has been processed; the new C. REQUIRES: numbers begin at 1, and each is completed once.
  uint64_t complete(uint64_t number) {
    if (number != consecutive_ + 1) {
      early_.push_back(number);
      std::push_heap(early_.begin(), early_.end(), std::greater<>());
      return consecutive_;
    }
    ++consecutive_;
    while (!early_.empty() && early_.front() == consecutive_ + 1) {
      std::pop_heap(early_.begin(), early_.end(), std::greater<>());
      early_.pop_back();
      ++consecutive_;
    }
    return consecutive_;
  }

  uint64_t consecutive() const { return consecutive_; }
  size_t early() const { return early_.size(); }

 private:
  uint64_t consecutive_ = 0;
  std::vector<uint64_t> early_;  // a heap, its smallest in front
};

}  // namespace contrafact::deferred
