// A program that stamps its progress where others see it whatever becomes of it: a file that both map.
//
// usage: harm_progress FILE COUNT   as many critical sections, each with some work; then status 33
#include <fcntl.h>
#include <stdint.h>
#include <sys/mman.h>
#include <time.h>

#include "harm.h"

using namespace harm;

namespace {

constexpr uint64_t kSectionsMax = 1 << 20;
constexpr int64_t kWorkNs = 20'000;

// kills.py reads it.
struct Progress {
  uint64_t done;   // sections, stamped below
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

}  // namespace

int main(int count, char** arguments) {
  if (count < 3) return 2;
  Progress* progress = map(arguments[1]);
  const uint64_t sections = strtoull(arguments[2], nullptr, 10);
  const int64_t waited_before_ns = waited_for_core_ns();
  for (uint64_t i = 0; i < sections && i < kSectionsMax; ++i) {
    pthread_mutex_lock(&g_mutex);
    const int64_t end_ns = now_ns() + kWorkNs;
    while (now_ns() < end_ns) {
    }
    pthread_mutex_unlock(&g_mutex);
    // Behind the release: a section that is stamped is over, and its events were written.
    progress->stamps_ns[i] = now_ns();
    __atomic_store_n(&progress->done, i + 1, __ATOMIC_RELEASE);
  }
  progress->waited_ns = waited_for_core_ns() - waited_before_ns;
  progress->ended = 1;
  return 33;
}
