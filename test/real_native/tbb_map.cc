// Words are counted in a std::unordered_map under one mutex. Twin: in oneTBB's concurrent_hash_map, which has locks for
// buckets and elements.
#include <tbb/concurrent_hash_map.h>

#include <mutex>
#include <string>
#include <unordered_map>

#include "work.h"

namespace {

using Seen = std::vector<uint32_t>;

std::mutex mutex;
std::unordered_map<std::string, Seen> places;
tbb::concurrent_hash_map<std::string, Seen> shared_places;

void note_place(Seen& seen, uint64_t place) {
  seen.resize(64);
  for (uint64_t i = 0; i < 400; ++i) seen[(place + i * 7) % 64] += 1;
}

void add(const std::string& word, uint64_t place) {
  if (twin) {
    tbb::concurrent_hash_map<std::string, Seen>::accessor found;
    shared_places.insert(found, word);
    note_place(found->second, place);
  } else {
    const std::lock_guard lock(mutex);
    note_place(places[word], place);
  }
}

uint64_t total() {
  uint64_t sum = 0;
  for (const auto& [word, seen] : places)
    for (const uint32_t count : seen) sum += word.size() * count;
  for (const auto& [word, seen] : shared_places)
    for (const uint32_t count : seen) sum += word.size() * count;
  return sum;
}

}  // namespace

int main(int count, char** arguments) {
  return timed_main(count, arguments, [] {
    run_threads(4, [](int number) {
      uint64_t random = static_cast<uint64_t>(number) + 5;
      for (int i = 0; i < 100000; ++i) {
        const uint64_t seed = next_random(random);
        add("a word that occurs " + std::to_string((seed >> 16) % 500), seed % 1000);
      }
    });
    return total();
  });
}
