// Two threads that count words in tables of a map each, with a mutex for each table: many short critical sections on
// data that both use. Prints a sum that does not depend on who came first. Compiled as it is, for stock
// ThreadSanitizer, and for the project's library of accesses; it must not know the project.
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>

#include <thread>
#include <unordered_map>

namespace {

constexpr int kTables = 16;
constexpr int kOperations = 500'000;  // of each thread

struct Table {
  pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
  std::unordered_map<uint64_t, uint64_t> counts;
};
Table tables[kTables];

void count(uint64_t seed) {
  for (int i = 0; i < kOperations; ++i) {
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    const uint64_t word = seed >> 52;
    Table& table = tables[word % kTables];
    pthread_mutex_lock(&table.mutex);
    table.counts[word] += 1;
    pthread_mutex_unlock(&table.mutex);
  }
}

}  // namespace

int main() {
  std::thread first(count, 1), second(count, 2);
  first.join();
  second.join();
  uint64_t sum = 0;
  for (const Table& table : tables) {
    for (const auto& [word, times] : table.counts) sum += word * times;
  }
  printf("%llu\n", static_cast<unsigned long long>(sum));
  return 0;
}
