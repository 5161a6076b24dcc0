// A table that locks for itself by a lock of its own making, which spins a while and then parks at a condition; callers
// hold a mutex around it, and compute there. Twin: they do not.
#include <condition_variable>
#include <mutex>
#include <vector>

#include "work.h"

namespace {

class SpinThenPark {
 public:
  void lock() {
    for (int spin = 0; spin < 100; ++spin) {
      if (try_lock()) return;
    }
    std::unique_lock guard(mutex_);
    ++parked_;
    free_.wait(guard, [this] { return !held_; });
    --parked_;
    held_ = true;
  }
  void unlock() {
    const std::lock_guard guard(mutex_);
    held_ = false;
    if (parked_ > 0) free_.notify_one();
  }

 private:
  bool try_lock() {
    const std::lock_guard guard(mutex_);
    if (held_) return false;
    return held_ = true;
  }
  std::mutex mutex_;
  std::condition_variable free_;
  bool held_ = false;
  int parked_ = 0;
};

class Table {
 public:
  void add(uint64_t key, uint64_t amount) {
    const std::lock_guard guard(lock_);
    sums_[key % sums_.size()] += amount;
    last_ = last_ * 3 + sums_[key % sums_.size()];
  }
  uint64_t sum() const {
    uint64_t sum = 0;
    for (const uint64_t each : sums_) sum += each;
    return sum;
  }

 private:
  SpinThenPark lock_;
  std::vector<uint64_t> sums_ = std::vector<uint64_t>(64);
  uint64_t last_ = 0;
};

std::mutex around;

void account(Table& table, uint64_t seed) {
  std::unique_lock lock(around, std::defer_lock);
  if (!twin) lock.lock();
  const uint64_t before = compute(seed, 3);
  table.add(seed, 1 + (before == 0));
  if (compute(before, 3) == 0) table.add(seed, 1);
}

}  // namespace

int main(int count, char** arguments) {
  return timed_main(count, arguments, [] {
    Table table;
    run_threads(3, [&](int number) {
      uint64_t random = static_cast<uint64_t>(number) + 55;
      for (int i = 0; i < 25000; ++i) {
        account(table, next_random(random));
        if (compute(random, 3) == 0) return;
      }
    });
    return table.sum();
  });
}
