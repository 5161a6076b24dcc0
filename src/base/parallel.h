// Work on several threads.
#pragma once

#include <algorithm>
#include <cstddef>
#include <exception>
#include <mutex>
#include <new>
#include <system_error>
#include <thread>
#include <vector>

namespace contrafact::base {

// Calls work(0), work(1) ... below `threads` at once, each on a thread of its own, work(0) on the caller's; returns
// when all have returned. The first exception that a call ends with is thrown here, once all have.
//
// If the system begins no further thread (limits of memory, or of threads), the calls for the missing threads are not
// made.
// REQUIRES: `work` may be called by several threads at once, and work(0) alone does all there is to do: let each call
// take the next piece from what all share.
template <typename Work>
void on_threads(size_t threads, const Work& work) {
  std::exception_ptr failed;
  std::mutex mutex;
  auto call = [&](size_t number) {
    try {
      work(number);
    } catch (...) {
      const std::lock_guard guard(mutex);
      if (!failed) failed = std::current_exception();
    }
  };
  std::vector<std::thread> others;
  others.reserve(std::max<size_t>(1, threads) - 1);
  try {
    for (size_t number = 1; number < threads; ++number) others.emplace_back(call, number);
  } catch (const std::system_error&) {
    // Those that could be begun do it all.
  } catch (const std::bad_alloc&) {
  }
  call(0);
  for (std::thread& other : others) other.join();
  if (failed) std::rethrow_exception(failed);
}

}  // namespace contrafact::base
