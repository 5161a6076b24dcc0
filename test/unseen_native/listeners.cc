// Callbacks (std::function) that a program calls with the lock held that guards their list. Each adds to what its own
// thread has. Twin: the callers share the lock.
#include <functional>
#include <mutex>
#include <shared_mutex>
#include <string>
#include <vector>

#include "work.h"

namespace {

struct Event {
  uint64_t number;
  uint64_t* score;
};

class Listeners {
 public:
  void add(std::function<void(const Event&)> listener) {
    const std::unique_lock lock(mutex_);
    all_.push_back(std::move(listener));
  }
  void tell(const Event& event) {
    if (twin) {
      const std::shared_lock lock(mutex_);
      return call(event);
    }
    const std::unique_lock lock(mutex_);
    call(event);
  }

 private:
  void call(const Event& event) {
    for (const auto& listener : all_) listener(event);
  }
  std::shared_mutex mutex_;
  std::vector<std::function<void(const Event&)>> all_;
};

}  // namespace

int main(int count, char** arguments) {
  return timed_main(count, arguments, [] {
    Listeners listeners;
    for (uint64_t i = 0; i < 12; ++i)
      listeners.add([i, name = std::string("listener number ") + std::to_string(i)](const Event& event) {
        uint64_t hash = event.number + i;
        for (int j = 0; j < 20; ++j) {
          for (const char each : name) hash = hash * 31 + static_cast<uint64_t>(each);
        }
        *event.score += hash % 7;
      });
    constexpr int threads = 4;
    std::vector<uint64_t> scores(threads * 16);
    run_threads(threads, [&](int number) {
      uint64_t random = static_cast<uint64_t>(number) + 8;
      for (int i = 0; i < 40000; ++i) {
        listeners.tell({next_random(random), &scores[static_cast<size_t>(number) * 16]});
        if (compute(random, 3) == 0) return;
        if (i % 4000 == 0 && number == 0) listeners.add([](const Event&) {});
      }
    });
    uint64_t events = 0;
    for (const uint64_t score : scores) events += score > 0;
    return events;
  });
}
