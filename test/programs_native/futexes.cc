// Locks of a program's own, on bare futexes by syscall(): a mutex that four threads contend for, and a counter of work
// that one thread gives to another.
#include <errno.h>
#include <linux/futex.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <atomic>
#include <thread>
#include <vector>

namespace {

long futex(std::atomic<uint32_t>& word, int operation, uint32_t value) {
  return syscall(SYS_futex, reinterpret_cast<uint32_t*>(&word), operation | FUTEX_PRIVATE_FLAG, value, nullptr, nullptr,
                 0);
}

// 0: free, 1: held, 2: held, and somebody may wait.
class Mutex {
 public:
  __attribute__((noinline)) void lock() {
    uint32_t is = 0;
    if (state_.compare_exchange_strong(is, 1)) return;
    while (state_.exchange(2) != 0) futex(state_, FUTEX_WAIT, 2);
  }
  __attribute__((noinline)) void unlock() {
    if (state_.exchange(0) == 2) futex(state_, FUTEX_WAKE, 1);
  }

 private:
  std::atomic<uint32_t> state_{0};
};

Mutex total_lock;
uint64_t total = 0;
std::atomic<uint32_t> given{0};

__attribute__((noinline)) uint64_t compute(uint64_t from) {
  for (int i = 0; i < 100'000; ++i) from = from * 6364136223846793005 + 1442695040888963407;
  return from;
}

void add() {
  for (uint64_t i = 0; i < 50; ++i) {
    total_lock.lock();
    total += compute(i) % 10;
    total_lock.unlock();
  }
}

void take_work() {
  for (uint32_t taken = 0; taken < 20; ++taken) {
    while (given.load() == taken) futex(given, FUTEX_WAIT, taken);
  }
}

void give_work() {
  for (int i = 0; i < 20; ++i) {
    usleep(500);
    given.fetch_add(1);
    futex(given, FUTEX_WAKE, 1);
  }
}

// What the kernel refuses, and what wakes nobody: each result and error as without the recorder.
void refused() {
  std::atomic<uint32_t> word{7}, other{0};
  const auto tell = [](const char* what, long result) {
    printf("%s %ld errno %d\n", what, result, result < 0 ? errno : 0);
  };
  const timespec soon{0, 1'000'000};
  uint32_t* const at = reinterpret_cast<uint32_t*>(&word);
  tell("changed", syscall(SYS_futex, at, FUTEX_WAIT_PRIVATE, 6, nullptr, nullptr, 0));
  tell("late", syscall(SYS_futex, at, FUTEX_WAIT_PRIVATE, 7, &soon, nullptr, 0));
  tell("nowhere", syscall(SYS_futex, -4L, FUTEX_WAIT_PRIVATE, 7, nullptr, nullptr, 0));
  tell("odd", syscall(SYS_futex, reinterpret_cast<char*>(at) + 1, FUTEX_WAKE_PRIVATE, 1, nullptr, nullptr, 0));
  tell("nobody", syscall(SYS_futex, at, FUTEX_WAKE_PRIVATE, 1, nullptr, nullptr, 0));
  errno = 4242;
  tell("requeued", syscall(SYS_futex, at, FUTEX_CMP_REQUEUE_PRIVATE, 1, 1L, reinterpret_cast<uint32_t*>(&other), 7));
  printf("errno %d\n", errno);
}

}  // namespace

int main() {
  refused();
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) threads.emplace_back(add);
  threads.emplace_back(take_work);
  threads.emplace_back(give_work);
  for (std::thread& thread : threads) thread.join();
  printf("%llu\n", static_cast<unsigned long long>(total));
}
