// A limit for the live memory of this process: an allocation beyond it aborts. memory_limit_sanitizer.cc sees each
// allocation by a sanitizer's hooks, memory_limit_new.cc those of C++ in builds without one. Not thread-safe: the
// computations here have one thread.
#pragma once

#include <algorithm>
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
  explicit MemoryLimit(size_t further_bytes) { limit_bytes_ = live_bytes_ + further_bytes; }
  ~MemoryLimit() { limit_bytes_ = SIZE_MAX; }

  static void on_allocation(size_t bytes) {
    live_bytes_ += bytes;
    if (live_bytes_ <= limit_bytes_) return;
    limit_bytes_ = SIZE_MAX;
    std::fprintf(stderr, "more memory than the bound\n");
    std::abort();
  }
  // The program also frees blocks that it allocated before install().
  static void on_free(size_t bytes) { live_bytes_ -= std::min(live_bytes_, bytes); }

 private:
  static inline size_t live_bytes_ = 0;
  static inline size_t limit_bytes_ = SIZE_MAX;
};

}  // namespace contrafact
