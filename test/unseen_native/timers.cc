// Timers in a heap, the earliest on top; two threads take those that are due together and fire them, each a virtual
// call, before they unlock the heap, into which others put timers. Twin: they take them out, unlock, and then fire
// them.
#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <string>

#include "work.h"

namespace {

constexpr int kThreads = 4, kServing = 2, kTimers = 6000;
constexpr uint64_t kSlack = 40;  // ticks; timers that are as near as that fire together,
constexpr size_t kTogether = 8;  // but not more than these

class Timer {
 public:
  explicit Timer(uint64_t due) : due_(due) {}
  virtual ~Timer() = default;
  virtual uint64_t fire() = 0;
  uint64_t due() const { return due_; }

 private:
  uint64_t due_;
};

// A session that nobody has used for long is written into a report.
class Expiry final : public Timer {
 public:
  Expiry(uint64_t due, uint64_t user, std::vector<uint64_t> pages)
      : Timer(due), user_(user), pages_(std::move(pages)) {}
  uint64_t fire() override {
    std::string report = "user " + std::to_string(user_) + ':';
    for (const uint64_t page : pages_) {
      report += " page ";
      report += std::to_string(page);
    }
    uint64_t digest = 0;
    for (int i = 0; i < 8; ++i) {
      for (const char each : report) digest = (digest ^ static_cast<unsigned char>(each)) * 0x100000001b3;
    }
    return digest >> 32;
  }

 private:
  uint64_t user_;
  std::vector<uint64_t> pages_;
};

// A packet without an answer is sealed again with the next number.
class Retransmission final : public Timer {
 public:
  Retransmission(uint64_t due, uint64_t packet) : Timer(due), packet_(packet) {}
  uint64_t fire() override { return compute(packet_, 50) >> 32; }

 private:
  uint64_t packet_;
};

class Timers {
 public:
  void put(std::unique_ptr<Timer> timer) {
    {
      const std::lock_guard lock(mutex_);
      heap_.push_back(std::move(timer));
      std::push_heap(heap_.begin(), heap_.end(), later);
    }
    more_.notify_one();
  }
  void end() {
    {
      const std::lock_guard lock(mutex_);
      ended_ = true;
    }
    more_.notify_all();
  }
  // Waits for the next that are due; false at the end.
  bool run(uint64_t& sum) {
    std::vector<std::unique_ptr<Timer>> due;
    std::unique_lock lock(mutex_);
    more_.wait(lock, [this] { return ended_ || !heap_.empty(); });
    if (heap_.empty()) return false;
    const uint64_t until = heap_.front()->due() + kSlack;
    while (!heap_.empty() && heap_.front()->due() <= until && due.size() < kTogether) {
      std::pop_heap(heap_.begin(), heap_.end(), later);
      due.push_back(std::move(heap_.back()));
      heap_.pop_back();
    }
    if (twin) lock.unlock();
    for (const auto& timer : due) sum += timer->fire();
    return true;
  }

 private:
  static bool later(const std::unique_ptr<Timer>& a, const std::unique_ptr<Timer>& b) { return a->due() > b->due(); }
  std::mutex mutex_;
  std::condition_variable more_;
  std::vector<std::unique_ptr<Timer>> heap_;
  bool ended_ = false;
};

void serve(Timers& timers, int thread) {
  uint64_t random = static_cast<uint64_t>(thread) + 640;
  for (int i = 0; i < kTimers; ++i) {
    const uint64_t due = static_cast<uint64_t>(i) + next_random(random) % 500;
    const uint64_t answer = compute(random, 25);
    if (i % 3 == 0) {
      std::vector<uint64_t> pages(150);
      for (uint64_t& page : pages) page = next_random(random) % 100'000;
      timers.put(std::make_unique<Expiry>(due, answer >> 40, std::move(pages)));
    } else {
      timers.put(std::make_unique<Retransmission>(due, answer));
    }
  }
}

}  // namespace

int main(int count, char** arguments) {
  return timed_main(count, arguments, [] {
    Timers timers;
    std::atomic<uint64_t> sum = 0;
    std::atomic<int> serving = kServing;
    run_threads(kThreads, [&](int thread) {
      if (thread < kServing) {
        serve(timers, thread);
        if (--serving == 0) timers.end();
        return;
      }
      uint64_t mine = 0;
      while (timers.run(mine)) {
      }
      sum += mine;
    });
    return sum.load();
  });
}
