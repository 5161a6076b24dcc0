// A limit for the live memory of this process: an allocation beyond it aborts. memory_limit_sanitizer.cc sees each
// allocation by a sanitizer's hooks, memory_limit_new.cc those of C++ in builds without one. Computations may have
// several threads; limits begin and end while there is one.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>

namespace contrafact {

class MemoryLimit {
 public:
  // REQUIRES: called once, before the first limit.
  static void install();

  // While it lives, at most so many bytes more than were live at its begin.
  explicit MemoryLimit(size_t further_bytes) { limit_bytes_ = live_bytes_ + static_cast<int64_t>(further_bytes); }
  ~MemoryLimit() { limit_bytes_ = INT64_MAX; }

  static void on_allocation(size_t bytes) {
    const auto more = static_cast<int64_t>(bytes);
    if (live_bytes_.fetch_add(more, std::memory_order_relaxed) + more <= limit_bytes_.load(std::memory_order_relaxed))
      return;
    limit_bytes_ = INT64_MAX;
    std::fprintf(stderr, "more memory than the bound\n");
    std::abort();
  }
  static void on_free(size_t bytes) { live_bytes_.fetch_sub(static_cast<int64_t>(bytes), std::memory_order_relaxed); }

 private:
  static inline std::atomic<int64_t> live_bytes_ = 0;  // below 0: blocks were freed that install() has not seen
  static inline std::atomic<int64_t> limit_bytes_ = INT64_MAX;
};

}  // namespace contrafact
