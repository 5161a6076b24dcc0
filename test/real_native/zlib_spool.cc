// Records are compressed by zlib while the spool is locked. Twin: before it is.
#include <zlib.h>

#include <mutex>
#include <string>
#include <vector>

#include "work.h"

namespace {

using Bytes = std::vector<unsigned char>;

struct Spool {
  std::mutex mutex;
  std::vector<Bytes> records;
  uint64_t bytes = 0;
};

std::string record_of(uint64_t seed) {
  std::string text;
  for (int i = 0; i < 20; ++i) text += "field " + std::to_string(next_random(seed) % 100) + ";";
  return text;
}

Bytes packed(const std::string& text) {
  uLongf size = compressBound(text.size());
  Bytes bytes(size);
  if (compress2(bytes.data(), &size, reinterpret_cast<const Bytef*>(text.data()), text.size(), 1) != Z_OK) abort();
  bytes.resize(size);
  return bytes;
}

void append(Spool& spool, Bytes bytes) {
  spool.bytes += bytes.size();
  spool.records.push_back(std::move(bytes));
}

void put(Spool& spool, const std::string& text) {
  if (twin) {
    Bytes bytes = packed(text);
    const std::lock_guard lock(spool.mutex);
    append(spool, std::move(bytes));
  } else {
    const std::lock_guard lock(spool.mutex);
    append(spool, packed(text));
  }
}

}  // namespace

int main(int count, char** arguments) {
  return timed_main(count, arguments, [] {
    Spool spool;
    run_threads(3, [&](int number) {
      uint64_t random = static_cast<uint64_t>(number) + 5;
      for (int i = 0; i < 6000; ++i) put(spool, record_of(next_random(random)));
    });
    return spool.bytes;
  });
}
