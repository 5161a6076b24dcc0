// Entries of a journal are compressed by Zstandard, written and made durable (fdatasync) under one lock. Twin: made
// durable after it.
#include <fcntl.h>
#include <unistd.h>
#include <zstd.h>

#include <mutex>
#include <string>
#include <vector>

#include "scratch.h"
#include "work.h"

namespace {

struct Journal {
  std::mutex mutex;
  int file = -1;
  ZSTD_CCtx* context = ZSTD_createCCtx();
  std::vector<char> packed = std::vector<char>(1 << 16);
  uint64_t bytes = 0;
};

std::string entry_of(uint64_t seed) {
  std::string text;
  for (int i = 0; i < 100; ++i) text += "account " + std::to_string(next_random(seed) % 1000) + " changed; ";
  return text;
}

void append(Journal& journal, const std::string& entry) {
  std::unique_lock lock(journal.mutex);
  const size_t size =
      ZSTD_compressCCtx(journal.context, journal.packed.data(), journal.packed.size(), entry.data(), entry.size(), 3);
  if (write(journal.file, journal.packed.data(), size) != static_cast<ssize_t>(size)) abort();
  journal.bytes += size;
  if (twin) lock.unlock();
  fdatasync(journal.file);
}

}  // namespace

int main(int count, char** arguments) {
  const ScratchFolder folder;
  Journal journal;
  journal.file = open((folder.path + "/journal").c_str(), O_CREAT | O_WRONLY, 0600);
  const int status = timed_main(count, arguments, [&] {
    run_threads(4, [&](int number) {
      uint64_t random = static_cast<uint64_t>(number) + 5;
      for (int i = 0; i < 250; ++i) append(journal, entry_of(next_random(random)));
    });
    return journal.bytes;
  });
  ZSTD_freeCCtx(journal.context);
  return status;
}
