// A program that stamps its progress where others see it whatever becomes of it: a file that both map.
//
// usage: harm_progress FILE COUNT          as many critical sections, each with some work; then status 33
//        harm_progress FILE until-signal   the same until SIGUSR1 comes; then status 33
//        harm_progress FILE fast THREADS   empty sections on so many threads, as many as they can execute
#include <fcntl.h>
#include <signal.h>
#include <stdint.h>
#include <sys/mman.h>
#include <time.h>

#include "harm.h"

using namespace harm;

namespace {

constexpr uint64_t kSectionsMax = 1 << 20;
constexpr int64_t kWorkNs = 20'000;
constexpr int kFastBatch = 256;  // sections that have one stamp, of a fast thread

// kills.py reads it.
struct Progress {
  uint64_t done;   // sections, or batches of them, stamped below
  uint64_t ended;  // 1 when the program is about to end
  // While it waited for a core, from the first section to the last: other processes' doing, not the recorder's.
  int64_t waited_ns;
  int64_t stamps_ns[kSectionsMax];
};

int64_t now_ns() {
  timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return now.tv_sec * 1'000'000'000 + now.tv_nsec;
}

// 0 where the kernel does not say.
int64_t waited_for_core_ns() {
  long long run_ns = 0, waited_ns = 0;
  FILE* in = fopen("/proc/thread-self/schedstat", "r");
  if (!in || fscanf(in, "%lld %lld", &run_ns, &waited_ns) != 2) waited_ns = 0;
  if (in) fclose(in);
  return waited_ns;
}

Progress* map(const char* name) {
  const int fd = open(name, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  expect(fd >= 0 && ftruncate(fd, sizeof(Progress)) == 0, name);
  void* at = mmap(nullptr, sizeof(Progress), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  expect(at != MAP_FAILED, "mmap");
  close(fd);
  return static_cast<Progress*>(at);
}

Progress* g_progress;
volatile sig_atomic_t g_stop = 0;

// Each thread has a lock of its own. A stamp stands for a batch of sections of whichever thread; the one of a batch that
// was counted may still be 0.
void* execute_fast(void*) {
  pthread_mutex_t own = PTHREAD_MUTEX_INITIALIZER;
  uint64_t number = 0;
  do {
    for (int i = 0; i < kFastBatch; ++i) {
      pthread_mutex_lock(&own);
      pthread_mutex_unlock(&own);
    }
    number = __atomic_fetch_add(&g_progress->done, 1, __ATOMIC_RELAXED);
    if (number < kSectionsMax) g_progress->stamps_ns[number] = now_ns();
  } while (number < kSectionsMax);
  return nullptr;
}

[[noreturn]] void execute_fast_on(int threads) {
  for (int i = 0; i < threads; ++i) start(execute_fast);
  for (;;) pause();
}

void execute(uint64_t sections) {
  const int64_t waited_before_ns = waited_for_core_ns();
  for (uint64_t i = 0; i < sections && i < kSectionsMax && !g_stop; ++i) {
    pthread_mutex_lock(&g_mutex);
    const int64_t end_ns = now_ns() + kWorkNs;
    while (now_ns() < end_ns) {
    }
    pthread_mutex_unlock(&g_mutex);
    // Behind the release: a section that is stamped is over, and its events were written.
    g_progress->stamps_ns[i] = now_ns();
    __atomic_store_n(&g_progress->done, i + 1, __ATOMIC_RELEASE);
  }
  g_progress->waited_ns = waited_for_core_ns() - waited_before_ns;
}

}  // namespace

int main(int count, char** arguments) {
  if (count < 3) return 2;
  g_progress = map(arguments[1]);
  if (strcmp(arguments[2], "fast") == 0) execute_fast_on(count > 3 ? atoi(arguments[3]) : 1);
  const bool until_signal = strcmp(arguments[2], "until-signal") == 0;
  if (until_signal) signal(SIGUSR1, [](int) { g_stop = 1; });
  execute(until_signal ? kSectionsMax : strtoull(arguments[2], nullptr, 10));
  g_progress->ended = 1;
  return 33;
}
