// A cache whose look-up moves what it found to the front of a list: each look-up changes what all others read. Nothing
// is to be changed.
#include <list>
#include <mutex>
#include <string>
#include <unordered_map>

#include "work.h"

namespace {

class Cache {
 public:
  size_t get(uint64_t key) {
    std::lock_guard lock(mutex_);
    const auto found = places_.find(key);
    if (found != places_.end()) {
      items_.splice(items_.begin(), items_, found->second);
      return weight(found->second->second);
    }
    items_.emplace_front(key, "what is known of " + std::to_string(key));
    places_[key] = items_.begin();
    if (items_.size() > 500) {
      places_.erase(items_.back().first);
      items_.pop_back();
    }
    return weight(items_.front().second);
  }

 private:
  static size_t weight(const std::string& text) {
    size_t sum = 0;
    for (int i = 0; i < 20; ++i) {
      for (const char each : text) sum = sum * 31 + static_cast<unsigned char>(each);
    }
    return sum;
  }
  std::mutex mutex_;
  std::list<std::pair<uint64_t, std::string>> items_;
  std::unordered_map<uint64_t, std::list<std::pair<uint64_t, std::string>>::iterator> places_;
};

}  // namespace

int main(int count, char** arguments) {
  return timed_main(count, arguments, [] {
    Cache cache;
    std::atomic<uint64_t> sum = 0;
    run_threads(4, [&](int number) {
      uint64_t random = static_cast<uint64_t>(number) + 31, mine = 0;
      for (int i = 0; i < 60000; ++i) {
        mine += cache.get(next_random(random) % 600);
        if (compute(random, 2) == 0) return;
      }
      sum += mine;
    });
    return sum.load();
  });
}
