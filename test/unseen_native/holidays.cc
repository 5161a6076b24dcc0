// Public holidays, made when somebody first asks for one, and looked up under the same mutex ever after. Twin: looks at
// an atomic pointer first, and takes the mutex only where nothing is made yet (double-checked).
#include <atomic>
#include <map>
#include <mutex>
#include <string>

#include "work.h"

namespace {

constexpr int kThreads = 4, kJourneys = 20'000, kDays = 64;

class Holidays {
 public:
  // How many letters the names of the next holidays after these days have.
  uint64_t letters_after(const std::vector<uint32_t>& days) {
    if (twin) {
      const Table* table = ready_.load(std::memory_order_acquire);
      return letters(table ? *table : made(), days);
    }
    const std::lock_guard lock(mutex_);
    if (table_.empty()) make();
    return letters(table_, days);
  }

 private:
  using Table = std::map<uint32_t, std::string>;

  const Table& made() {
    const std::lock_guard lock(mutex_);
    if (table_.empty()) {
      make();
      ready_.store(&table_, std::memory_order_release);
    }
    return table_;
  }
  void make() {
    uint64_t random = 2024;
    for (uint32_t year = 0; year < 300; ++year) {
      for (int i = 0; i < 14; ++i)
        table_.emplace(year * 366 + next_random(random) % 366, "holiday " + std::to_string(random % 1000));
    }
  }
  static uint64_t letters(const Table& table, const std::vector<uint32_t>& days) {
    uint64_t sum = 0;
    for (const uint32_t day : days) {
      const auto next = table.upper_bound(day);
      if (next != table.end()) sum += next->second.size();
    }
    return sum;
  }

  std::mutex mutex_;
  Table table_;
  std::atomic<const Table*> ready_ = nullptr;
};

}  // namespace

int main(int count, char** arguments) {
  return timed_main(count, arguments, [] {
    Holidays holidays;
    std::atomic<uint64_t> sum = 0;
    run_threads(kThreads, [&](int thread) {
      uint64_t random = 5 + static_cast<uint64_t>(thread), mine = 0;
      std::vector<uint32_t> days(kDays);
      for (int i = 0; i < kJourneys; ++i) {
        for (uint32_t& day : days) day = static_cast<uint32_t>(next_random(random) % (300 * 366));
        mine += holidays.letters_after(days) + (compute(random, 3) == 0);
      }
      sum += mine;
    });
    return sum.load();
  });
}
