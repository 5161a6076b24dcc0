// A program that locks around each read of LevelDB, which locks for itself (leveldb/db.h: safe for concurrent access).
// Twin: no lock of its own.
#include <leveldb/cache.h>
#include <leveldb/db.h>

#include <atomic>
#include <mutex>
#include <string>

#include "scratch.h"
#include "work.h"

namespace {

constexpr int keys = 4000;

struct Shelf {
  std::mutex mutex;
  leveldb::DB* db = nullptr;
};

std::string key_of(uint64_t number) {
  return "entry/" + std::to_string(number % keys);
}

size_t read_page(Shelf& shelf, uint64_t seed) {
  std::unique_lock lock(shelf.mutex, std::defer_lock);
  if (!twin) lock.lock();
  size_t bytes = 0;
  for (int i = 0; i < 5; ++i) {
    std::string value;
    if (shelf.db->Get(leveldb::ReadOptions(), key_of(next_random(seed)), &value).ok()) bytes += value.size();
  }
  return bytes;
}

uint64_t read_all(Shelf& shelf) {
  std::atomic<uint64_t> sum = 0;
  run_threads(4, [&](int number) {
    uint64_t random = static_cast<uint64_t>(number) + 5;
    for (int i = 0; i < 6000; ++i) {
      sum += read_page(shelf, next_random(random));
      if (compute(random, 4) == 0) return;
    }
  });
  return sum;
}

}  // namespace

int main(int count, char** arguments) {
  const ScratchFolder folder;
  Shelf shelf;
  leveldb::Options options;
  options.create_if_missing = true;
  options.block_cache = leveldb::NewLRUCache(32 << 20);
  if (!leveldb::DB::Open(options, folder.path + "/db", &shelf.db).ok()) return 1;
  for (uint64_t i = 0; i < keys; ++i)
    shelf.db->Put(leveldb::WriteOptions(), key_of(i), std::string(100 + i % 200, 'v'));
  shelf.db->CompactRange(nullptr, nullptr);
  const int status = timed_main(count, arguments, [&] { return read_all(shelf); });
  delete shelf.db;
  delete options.block_cache;
  return status;
}
