// Failures: what deferred methods and hooks threw. Thread safety: all of it.
#pragma once

#include <atomic>
#include <cstdint>
#include <exception>
#include <mutex>
#include <string>

namespace contrafact::deferred {

class Failures {
 public:
  // REQUIRES: inside a catch block
  void add_current_exception() { add(std::current_exception()); }
  void add(const std::exception_ptr& exception);
  // Calls that were not made, because the hook before them threw.
  void add_calls_not_made(uint64_t calls) { calls_not_made_.fetch_add(calls, std::memory_order_relaxed); }

  uint64_t count() const { return count_.load(std::memory_order_relaxed); }
  uint64_t calls_not_made() const { return calls_not_made_.load(std::memory_order_relaxed); }
  // What the first one said; empty if there is none.
  std::string first() const;

 private:
  std::atomic<uint64_t> count_{0};
  std::atomic<uint64_t> calls_not_made_{0};
  mutable std::mutex mutex_;
  std::string first_;
};

}  // namespace contrafact::deferred
