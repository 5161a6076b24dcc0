// What pthread_mutex_lock and unlock cost, plain and under the agent: it is the same program, so that the difference is
// the recorder's.
//
//   lock_cost                             ns for an uncontended pair, shortest of many rounds; then the same with two
//                                         readings of the processor's counter beside it, as a recorder needs them
//   lock_cost burst PAIRS                 pairs without a pause, beside whoever drains them: ns for each, of the
//                                         process' CPU time
//   lock_cost contend THREADS NS PAIRS    threads that each hold one mutex for NS of work, and work as long without
//                                         it, PAIRS times: seconds, of the clock and of CPU time
//
// It must not know the project.
#include <pthread.h>
#include <sys/resource.h>
#include <time.h>
#include <x86intrin.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string_view>
#include <thread>
#include <vector>

namespace {

int64_t now_ns() {
  timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return int64_t{now.tv_sec} * 1'000'000'000 + now.tv_nsec;
}

int64_t cpu_ns() {
  rusage used;
  getrusage(RUSAGE_SELF, &used);
  const auto ns = [](const timeval& time) { return int64_t{time.tv_sec} * 1'000'000'000 + time.tv_usec * 1'000; };
  return ns(used.ru_utime) + ns(used.ru_stime);
}

pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

template <typename Pair>
double shortest_ns(Pair pair) {
  constexpr int kRounds = 300, kPairs = 2'000;
  int64_t best_ns = INT64_MAX;
  for (int round = 0; round < kRounds; ++round) {
    const int64_t begin_ns = now_ns();
    for (int i = 0; i < kPairs; ++i) pair();
    best_ns = std::min(best_ns, now_ns() - begin_ns);
    timespec nap{0, 200'000};  // the drainer keeps up
    nanosleep(&nap, nullptr);
  }
  return static_cast<double>(best_ns) / kPairs;
}

// The scaling of a counter to nanoseconds is a multiplication.
volatile uint64_t slope = 1'500'000'000, sum;
uint64_t scaled(uint64_t ticks) {
  return static_cast<uint64_t>(static_cast<unsigned __int128>(ticks) * slope >> 32);
}

void uncontended() {
  const double alone = shortest_ns([] {
    pthread_mutex_lock(&mutex);
    pthread_mutex_unlock(&mutex);
  });
  const double with_clock = shortest_ns([] {
    pthread_mutex_lock(&mutex);
    _mm_lfence();
    sum = scaled(__rdtsc());
    sum = scaled(__rdtsc());
    pthread_mutex_unlock(&mutex);
  });
  std::printf("%.1f %.1f\n", alone, with_clock);
}

void burst(int pairs) {
  const int64_t begin_ns = cpu_ns();
  for (int i = 0; i < pairs; ++i) {
    pthread_mutex_lock(&mutex);
    pthread_mutex_unlock(&mutex);
  }
  std::printf("%.1f\n", static_cast<double>(cpu_ns() - begin_ns) / pairs);
}

// Work of registers alone, as many steps as a first measurement said.
[[gnu::noinline]] uint64_t work(uint64_t value, int64_t steps) {
  for (int64_t i = 0; i < steps; ++i) value = value * 6364136223846793005u + 1442695040888963407u;
  return value;
}

double steps_a_ns() {
  constexpr int64_t kSteps = 1'000'000;
  double best = 0;
  for (int i = 0; i < 20; ++i) {
    const int64_t begin_ns = now_ns();
    sum = work(sum, kSteps);
    best = std::max(best, static_cast<double>(kSteps) / static_cast<double>(now_ns() - begin_ns));
  }
  return best;
}

void contend(int threads, int section_ns, int pairs) {
  const auto steps = static_cast<int64_t>(steps_a_ns() * section_ns);
  const int64_t begin_ns = now_ns(), begin_cpu_ns = cpu_ns();
  std::vector<std::thread> all;
  for (int t = 0; t < threads; ++t) {
    all.emplace_back([=] {
      uint64_t value = static_cast<uint64_t>(t);
      for (int i = 0; i < pairs; ++i) {
        pthread_mutex_lock(&mutex);
        value = work(value, steps);
        pthread_mutex_unlock(&mutex);
        value = work(value, steps);
      }
      sum = value;
    });
  }
  for (std::thread& each : all) each.join();
  std::printf("%.6f %.6f\n", static_cast<double>(now_ns() - begin_ns) * 1e-9,
              static_cast<double>(cpu_ns() - begin_cpu_ns) * 1e-9);
}

}  // namespace

int main(int count, char** words) {
  const std::string_view what = count > 1 ? words[1] : "";
  if (what == "burst" && count == 3) {
    burst(std::atoi(words[2]));
  } else if (what == "contend" && count == 5) {
    contend(std::atoi(words[2]), std::atoi(words[3]), std::atoi(words[4]));
  } else if (count == 1) {
    uncontended();
  } else {
    std::fprintf(stderr, "usage: lock_cost [burst PAIRS | contend THREADS NS PAIRS]\n");
    return 2;
  }
  return 0;
}
