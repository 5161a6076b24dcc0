// C++20's semaphore, latch, barrier and waiting for an atomic, each waited for while the other thread sleeps.
#include <atomic>
#include <barrier>
#include <chrono>
#include <cstdio>
#include <latch>
#include <semaphore>
#include <thread>

static std::counting_semaphore<4> semaphore(0);
static std::latch latch(1);
static std::barrier barrier(2);
static std::atomic<int> value = 0;

static void nap() {
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
}

int main() {
  std::thread other([] {
    nap();
    semaphore.release();
    nap();
    latch.count_down();
    nap();
    barrier.arrive_and_wait();
    nap();
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
