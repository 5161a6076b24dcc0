// Nanoseconds for an uncontended pthread_mutex_lock and unlock: the shortest of many rounds. Plain and under the agent
// it is the same program, so that the difference is the interposer's.
#include <pthread.h>
#include <time.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>

namespace {

int64_t now_ns() {
  timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return int64_t{now.tv_sec} * 1'000'000'000 + now.tv_nsec;
}

}  // namespace

int main() {
  constexpr int kRounds = 300, kPairs = 2'000;
  pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
  int64_t best_ns = INT64_MAX;
  for (int round = 0; round < kRounds; ++round) {
    const int64_t begin_ns = now_ns();
    for (int i = 0; i < kPairs; ++i) {
      pthread_mutex_lock(&mutex);
      pthread_mutex_unlock(&mutex);
    }
    best_ns = std::min(best_ns, now_ns() - begin_ns);
    timespec nap{0, 200'000};  // the drainer keeps up
    nanosleep(&nap, nullptr);
  }
  std::printf("%.1f\n", static_cast<double>(best_ns) / kPairs);
}
