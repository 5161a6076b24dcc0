// Threads that wait at futexes by a system call instruction of the program's own, as Go's and OpenMP's do, beside a mutex
// that hardly matters.
#include <linux/futex.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <mutex>
#include <thread>
#include <vector>

namespace {

constexpr int kThreads = 3, kRounds = 10;
std::atomic<uint32_t> round_begun{0}, at_work{0};
std::mutex sum_mutex;
uint64_t sum = 0;

__attribute__((noinline)) void futex(std::atomic<uint32_t>& word, uint64_t operation, uint64_t value) {
  uint64_t result = SYS_futex;
  register uint64_t timeout __asm__("r10") = 0;
  __asm__ volatile("syscall"
                   : "+a"(result)
                   : "D"(&word), "S"(operation | FUTEX_PRIVATE_FLAG), "d"(value), "r"(timeout)
                   : "rcx", "r11", "memory");
}

void work() {
  for (uint32_t round = 0; round < kRounds; ++round) {
    while (round_begun.load() == round) futex(round_begun, FUTEX_WAIT, round);
    {
      const std::lock_guard lock(sum_mutex);
      sum += round;
    }
    if (at_work.fetch_sub(1) == 1) futex(at_work, FUTEX_WAKE, 1);
  }
}

}  // namespace

int main() {
  std::vector<std::thread> threads;
  for (int i = 0; i < kThreads; ++i) threads.emplace_back(work);
  for (uint32_t round = 1; round <= kRounds; ++round) {
    usleep(100'000);
    at_work = kThreads;
    round_begun = round;
    futex(round_begun, FUTEX_WAKE, kThreads);
    while (const uint32_t left = at_work.load()) futex(at_work, FUTEX_WAIT, left);
  }
  for (std::thread& thread : threads) thread.join();
  printf("%lu\n", sum);
}
