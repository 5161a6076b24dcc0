#include "agent_native/set_counts.h"

namespace contrafact::agent_native {

SetCounts::~SetCounts() {
  for (ThreadCounts* counts = threads_.load(std::memory_order_acquire); counts;) {
    ThreadCounts* const next = counts->next_;
    delete counts;
    counts = next;
  }
}

ThreadCounts* SetCounts::take() {
  for (ThreadCounts* counts = threads_.load(std::memory_order_acquire); counts; counts = counts->next_) {
    bool is_used = false;
    if (counts->is_used_.compare_exchange_strong(is_used, true, std::memory_order_acquire)) return counts;
  }
  auto* counts = new ThreadCounts;
  counts->next_ = threads_.load(std::memory_order_relaxed);
  while (!threads_.compare_exchange_weak(counts->next_, counts, std::memory_order_release)) {
  }
  return counts;
}

template <typename Value>
uint64_t SetCounts::sum(Value value) const {
  uint64_t out = 0;
  for (const ThreadCounts* counts = threads_.load(std::memory_order_acquire); counts; counts = counts->next_)
    out += value(*counts);
  return out;
}

uint64_t SetCounts::segments(format::SetGap gap) const {
  return sum([gap](const ThreadCounts& counts) { return counts.segments_[static_cast<size_t>(gap)].value(); });
}

uint64_t SetCounts::outside() const {
  return sum([](const ThreadCounts& counts) { return counts.outside_.value(); });
}

}  // namespace contrafact::agent_native
