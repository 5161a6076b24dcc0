// The C++ library's threads, mutexes, shared mutexes, conditions and async; an exception that unwinds a lock.
#include <condition_variable>
#include <cstdio>
#include <future>
#include <mutex>
#include <shared_mutex>
#include <stdexcept>
#include <thread>
#include <vector>

static std::mutex mutex;
static std::shared_mutex shared;
static std::condition_variable changed;
static int turn;

__attribute__((noinline)) static void add(long& sum, int i) {
  std::lock_guard lock(mutex);
  sum += i;
  if (i == 7) throw std::runtime_error("seven");
}

int main() {
  long sum = 0;
  std::vector<std::thread> threads;
  for (int t = 0; t < 3; ++t) {
    threads.emplace_back([&sum] {
      for (int i = 0; i < 10; ++i) {
        try {
          add(sum, i);
        } catch (const std::runtime_error&) {
        }
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  std::thread waiter([] {
    std::unique_lock lock(mutex);
    changed.wait(lock, [] { return turn == 1; });
  });
  {
    std::lock_guard lock(mutex);
    turn = 1;
  }
  changed.notify_all();
  waiter.join();
  for (int i = 0; i < 4; ++i) std::shared_lock reader(shared);
  std::printf("%ld %d\n", sum, std::async(std::launch::async, [] { return 42; }).get());
}
