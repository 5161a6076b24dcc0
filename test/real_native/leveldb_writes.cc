// Threads that write to LevelDB, which makes their writes one after the other and joins those that wait. Nothing is to
// be changed.
#include <leveldb/db.h>
#include <leveldb/write_batch.h>

#include <memory>
#include <string>

#include "scratch.h"
#include "work.h"

namespace {

uint64_t write_all(leveldb::DB& db) {
  run_threads(3, [&](int number) {
    uint64_t random = static_cast<uint64_t>(number) + 5;
    for (int i = 0; i < 6000; ++i) {
      leveldb::WriteBatch batch;
      for (int j = 0; j < 4; ++j)
        batch.Put(std::to_string(number) + "/" + std::to_string(i * 4 + j), std::string(80, 'w'));
      db.Write(leveldb::WriteOptions(), &batch);
      if (compute(next_random(random), 4) == 0) return;
    }
  });
  uint64_t bytes = 0;
  const std::unique_ptr<leveldb::Iterator> all(db.NewIterator(leveldb::ReadOptions()));
  for (all->SeekToFirst(); all->Valid(); all->Next()) bytes += all->key().size() + all->value().size();
  return bytes;
}

}  // namespace

int main(int count, char** arguments) {
  const ScratchFolder folder;
  leveldb::DB* db = nullptr;
  leveldb::Options options;
  options.create_if_missing = true;
  options.write_buffer_size = 64 << 20;
  if (!leveldb::DB::Open(options, folder.path + "/db", &db).ok()) return 1;
  const int status = timed_main(count, arguments, [&] { return write_all(*db); });
  delete db;
  return status;
}
