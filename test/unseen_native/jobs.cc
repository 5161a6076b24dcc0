// Consumers of a queue with a condition decode what they took before they let the mutex go. Twin: they decode
// afterwards.
#include <condition_variable>
#include <deque>
#include <mutex>
#include <string>

#include "work.h"

namespace {

struct Job {
  std::string text;
};

struct Decoded {
  std::vector<int> numbers;
  size_t checksum = 0;
};

class Jobs {
 public:
  void put(Job job) {
    std::lock_guard lock(mutex_);
    waiting_.push_back(std::move(job));
    more_.notify_one();
  }
  void end() {
    std::lock_guard lock(mutex_);
    ended_ = true;
    more_.notify_all();
  }
  bool take(Decoded& decoded) {
    std::unique_lock lock(mutex_);
    more_.wait(lock, [&] { return ended_ || !waiting_.empty(); });
    if (waiting_.empty()) return false;
    const Job job = std::move(waiting_.front());
    waiting_.pop_front();
    if (twin) lock.unlock();
    decoded = decode(job);
    return true;
  }

 private:
  [[gnu::noinline]] static Decoded decode(const Job& job) {
    Decoded decoded;
    size_t at = 0;
    while (at < job.text.size()) {
      size_t used = 0;
      decoded.numbers.push_back(std::stoi(job.text.substr(at, 8), &used));
      at += used + 1;
      for (const int number : decoded.numbers) decoded.checksum = decoded.checksum * 31 + static_cast<size_t>(number);
    }
    return decoded;
  }

  std::mutex mutex_;
  std::condition_variable more_;
  std::deque<Job> waiting_;
  bool ended_ = false;
};

}  // namespace

int main(int count, char** arguments) {
  return timed_main(count, arguments, [] {
    Jobs jobs;
    std::atomic<uint64_t> sum = 0;
    std::thread producer([&] {
      for (int i = 0; i < 12000; ++i) {
        std::string text;
        for (int n = 0; n < 100; ++n) text += std::to_string(i * n % 10007) + ',';
        jobs.put({std::move(text)});
      }
      jobs.end();
    });
    run_threads(3, [&](int) {
      Decoded decoded;
      uint64_t mine = 0;
      while (jobs.take(decoded)) mine += decoded.checksum + (compute(decoded.checksum, 25) == 0);
      sum += mine;
    });
    producer.join();
    return sum.load();
  });
}
