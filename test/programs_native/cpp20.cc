// C++20's semaphore, latch, barrier and waiting for an atomic. The other thread lets each wait end only once the main
// thread sleeps in it, however busy the machine is.
#include <unistd.h>

#include <atomic>
#include <barrier>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <latch>
#include <semaphore>
#include <thread>

static std::counting_semaphore<4> semaphore(0);
static std::latch latch(1);
static std::barrier barrier(2);
static std::atomic<int> value = 0;

// By the kernel's word, without a stream, whose locale takes a lock.
static bool main_sleeps() {
  char path[64], line[256] = "";
  snprintf(path, sizeof path, "/proc/self/task/%d/stat", getpid());
  FILE* file = fopen(path, "re");
  if (!file) return false;
  const bool read = fgets(line, sizeof line, file) != nullptr;
  fclose(file);
  const char* end_of_name = read ? strrchr(line, ')') : nullptr;
  return end_of_name && strncmp(end_of_name, ") S", 3) == 0;
}

static void until_main_sleeps() {
  constexpr int kTries = 10'000;
  for (int i = 0; i < kTries && !main_sleeps(); ++i) std::this_thread::sleep_for(std::chrono::milliseconds(1));
}

int main() {
  std::thread other([] {
    until_main_sleeps();
    semaphore.release();
    until_main_sleeps();
    latch.count_down();
    until_main_sleeps();
    barrier.arrive_and_wait();
    until_main_sleeps();
    value = 1;
    value.notify_all();
  });
  semaphore.acquire();
  latch.wait();
  barrier.arrive_and_wait();
  value.wait(0);
  other.join();
  printf("%d\n", value.load());
  return 0;
}
