// A bounded ring of numbers between producers and consumers, with a mutex and two conditions, held as briefly as can
// be. Nothing is to be changed.
#include <condition_variable>
#include <mutex>

#include "work.h"

namespace {

class Ring {
 public:
  void put(uint64_t value) {
    std::unique_lock lock(mutex_);
    room_.wait(lock, [&] { return last_ - first_ < 32; });
    values_[last_++ % 32] = value;
    lock.unlock();
    filled_.notify_one();
  }
  uint64_t take() {
    std::unique_lock lock(mutex_);
    filled_.wait(lock, [&] { return first_ != last_; });
    const uint64_t value = values_[first_++ % 32];
    lock.unlock();
    room_.notify_one();
    return value;
  }

 private:
  std::mutex mutex_;
  std::condition_variable room_, filled_;
  uint64_t values_[32] = {}, first_ = 0, last_ = 0;
};

}  // namespace

int main(int count, char** arguments) {
  return timed_main(count, arguments, [] {
    Ring ring;
    std::atomic<uint64_t> sum = 0;
    run_threads(4, [&](int number) {
      uint64_t mine = 0;
      for (uint64_t i = 0; i < 8000; ++i) {
        if (number % 2 == 0) {
          ring.put(i + (compute(i, 20) == 0));
        } else {
          mine += ring.take();
          if (compute(mine, 30) == 0) return;
        }
      }
      sum += mine;
    });
    return sum.load();
  });
}
