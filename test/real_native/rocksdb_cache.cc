// RocksDB's block cache, used as programs do that cache what they read elsewhere. Twin: its shards (num_shard_bits),
// each with a lock of its own.
#include <rocksdb/cache.h>

#include <atomic>
#include <memory>
#include <string>

#include "work.h"

namespace {

constexpr uint64_t pages = 4096;

void delete_page(const rocksdb::Slice&, void* value) {
  delete static_cast<std::string*>(value);
}

std::string key_of(uint64_t number) {
  return "page/" + std::to_string(number % pages);
}

size_t bytes_of_page(rocksdb::Cache& cache, uint64_t number) {
  const std::string key = key_of(number);
  rocksdb::Cache::Handle* handle = cache.Lookup(key);
  if (handle == nullptr) return 0;
  const size_t bytes = static_cast<std::string*>(cache.Value(handle))->size();
  cache.Release(handle);
  return bytes;
}

}  // namespace

int main(int count, char** arguments) {
  return timed_main(count, arguments, [] {
    const std::shared_ptr<rocksdb::Cache> cache = rocksdb::NewLRUCache(64 << 20, twin ? 6 : 0);
    for (uint64_t i = 0; i < pages; ++i) {
      auto* page = new std::string(200 + i % 100, 'p');
      if (!cache->Insert(key_of(i), page, page->size(), &delete_page).ok()) return uint64_t{0};
    }
    std::atomic<uint64_t> sum = 0;
    run_threads(4, [&](int number) {
      uint64_t random = static_cast<uint64_t>(number) + 5;
      uint64_t mine = 0;
      for (int i = 0; i < 200000; ++i) mine += bytes_of_page(*cache, next_random(random));
      sum += mine;
    });
    return sum.load();
  });
}
