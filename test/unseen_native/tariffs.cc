// Prices by name behind a std::shared_mutex that every call takes alone, as its author found std::unique_lock
// everywhere. Twin: those that only look take it shared.
#include <atomic>
#include <map>
#include <mutex>
#include <shared_mutex>
#include <string>

#include "work.h"

namespace {

class Tariffs {
 public:
  Tariffs() {
    for (int i = 0; i < 300; ++i) prices_["tariff of zone " + std::to_string(i)] = i * 7u;
  }
  // The cheapest of some that follow each other by name.
  uint64_t cheapest(uint64_t zone) const {
    if (twin) {
      const std::shared_lock lock(mutex_);
      return look(zone);
    }
    const std::unique_lock lock(mutex_);
    return look(zone);
  }
  void change(uint64_t zone, uint64_t price) {
    const std::unique_lock lock(mutex_);
    prices_["tariff of zone " + std::to_string(zone % 300)] = price;
  }

 private:
  uint64_t look(uint64_t zone) const {
    uint64_t least = UINT64_MAX;
    auto place = prices_.lower_bound("tariff of zone " + std::to_string(zone % 60));
    for (int i = 0; i < 250 && place != prices_.end(); ++i, ++place)
      least = std::min(least, place->second + place->first.size());
    return least;
  }
  mutable std::shared_mutex mutex_;
  std::map<std::string, uint64_t> prices_;
};

}  // namespace

int main(int count, char** arguments) {
  return timed_main(count, arguments, [] {
    Tariffs tariffs;
    std::atomic<uint64_t> sum = 0;
    run_threads(4, [&](int number) {
      uint64_t random = static_cast<uint64_t>(number) + 91, mine = 0;
      for (int i = 0; i < 30000; ++i) {
        mine += tariffs.cheapest(next_random(random)) > 0;
        if (i % 500 == 0) tariffs.change(random >> 7, 5);
        if (compute(random, 1) == 0) return;
      }
      sum += mine;
    });
    return sum.load();
  });
}
