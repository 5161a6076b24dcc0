// A queue that costs nothing while it is empty: std::deque takes 600 bytes from the start, and a simulation has a few
// queues for each pool. Not thread-safe. Push and pop take constant time, amortised.
#pragma once

#include <cstddef>
#include <utility>
#include <vector>

namespace contrafact::base {

template <typename T>
class Fifo {
 public:
  bool empty() const { return begin_ == items_.size(); }
  size_t size() const { return items_.size() - begin_; }
  // REQUIRES of these four: !empty().
  const T& front() const { return items_[begin_]; }
  const T& back() const { return items_.back(); }
  void pop_front() {
    ++begin_;
    if (2 * begin_ >= items_.size() + kKeptMax) drop_popped();
  }
  void pop_back() {
    items_.pop_back();
    if (empty()) drop_popped();
  }
  void push_back(T item) { items_.push_back(std::move(item)); }

 private:
  static constexpr size_t kKeptMax = 16;  // popped items kept, beyond the number of the others

  void drop_popped() {
    items_.erase(items_.begin(), items_.begin() + static_cast<std::ptrdiff_t>(begin_));
    begin_ = 0;
  }

  std::vector<T> items_;
  size_t begin_ = 0;  // the popped ones are before it
};

}  // namespace contrafact::base
