// Threads add what they counted to one total, under a mutex. Twin: an atomic.
#include <mutex>

#include "work.h"

namespace {

std::mutex total_mutex;
uint64_t total;

void count_in(uint64_t bytes) {
  if (twin) {
    __atomic_fetch_add(&total, bytes, __ATOMIC_RELAXED);
    return;
  }
  std::lock_guard lock(total_mutex);
  total += bytes;
}

}  // namespace

int main(int count, char** arguments) {
  return timed_main(count, arguments, [] {
    run_threads(4, [](int number) {
      uint64_t random = static_cast<uint64_t>(number) + 3;
      for (int i = 0; i < 700000; ++i) {
        for (int n = 0; n < 150; ++n) next_random(random);
        count_in(random & 1023);
      }
    });
    return total;
  });
}
