// Counts in Kyoto Cabinet's CacheDB, which has a lock for each of sixteen slots, and most calls go to one count.
// Nothing is to be changed.
#include <kccachedb.h>

#include <string>

#include "work.h"

int main(int count, char** arguments) {
  return timed_main(count, arguments, [] {
    kyotocabinet::CacheDB counts;
    counts.open("*", kyotocabinet::CacheDB::OWRITER | kyotocabinet::CacheDB::OCREATE);
    run_threads(3, [&](int number) {
      uint64_t random = static_cast<uint64_t>(number) + 5;
      for (int i = 0; i < 120000; ++i) {
        const uint64_t seed = next_random(random);
        counts.increment(seed % 8 != 0 ? "all requests" : "page " + std::to_string((seed >> 20) % 100), 1, 0);
        if (compute(random, 1) == 0) return;
      }
    });
    uint64_t sum = static_cast<uint64_t>(counts.increment("all requests", 0, 0));
    for (int page = 0; page < 100; ++page)
      sum += static_cast<uint64_t>(counts.increment("page " + std::to_string(page), 0, 0));
    return sum;
  });
}
