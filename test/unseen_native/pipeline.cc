// A bounded queue with two conditions; what is made and what is done with it is outside of the lock. Nothing is to be
// changed. Twin: the same program.
#include <condition_variable>
#include <deque>
#include <memory>
#include <mutex>

#include "work.h"

namespace {

class Belt {
 public:
  void put(std::unique_ptr<uint64_t> one) {
    std::unique_lock lock(mutex_);
    space_.wait(lock, [this] { return waiting_.size() < 32; });
    waiting_.push_back(std::move(one));
    lock.unlock();
    some_.notify_one();
  }
  std::unique_ptr<uint64_t> get() {
    std::unique_lock lock(mutex_);
    some_.wait(lock, [this] { return !waiting_.empty(); });
    std::unique_ptr<uint64_t> one = std::move(waiting_.front());
    waiting_.pop_front();
    lock.unlock();
    space_.notify_one();
    return one;
  }

 private:
  std::mutex mutex_;
  std::condition_variable some_, space_;
  std::deque<std::unique_ptr<uint64_t>> waiting_;
};

}  // namespace

int main(int count, char** arguments) {
  return timed_main(count, arguments, [] {
    Belt belt;
    std::vector<uint64_t> sums(2);
    run_threads(4, [&](int number) {
      constexpr int each = 20000;
      uint64_t random = static_cast<uint64_t>(number) + 2;
      for (int i = 0; i < each; ++i) {
        if (number < 2) {
          belt.put(std::make_unique<uint64_t>(compute(next_random(random), 8)));
        } else {
          sums[static_cast<size_t>(number - 2)] += compute(*belt.get(), 8) != 0;
        }
      }
    });
    return sums[0] + sums[1];
  });
}
