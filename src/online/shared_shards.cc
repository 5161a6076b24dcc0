#include "online/shared_shards.h"

#include <sys/mman.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <string>

#include "deferred/background_thread.h"

namespace contrafact::online {
namespace {

uint64_t region_bytes(unsigned shards, uint64_t shard_bytes) {
  return shards * shard_bytes + SharedShards::kClassesMax * sizeof(SharedShards::ClassSize);
}

}  // namespace

base::Result<uint8_t*> SharedShards::reserve(unsigned shards, uint64_t shard_bytes) {
  const uint64_t bytes = region_bytes(shards, shard_bytes);
  void* region = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (region == MAP_FAILED) {
    return base::Error{"cannot reserve " + std::to_string(bytes) + " bytes for shared counts: " + std::strerror(errno)};
  }
  // Entries are all over the tables: with small pages nearly each one would need its own translation.
  madvise(region, bytes, MADV_HUGEPAGE);
  return static_cast<uint8_t*>(region);
}

SharedShards::SharedShards(uint8_t* region, unsigned shards, uint64_t shard_bytes)
    : region_(region),
      shards_(shards),
      shard_bytes_(shard_bytes),
      classes_(reinterpret_cast<ClassSize*>(region + shards * shard_bytes)) {}

SharedShards::~SharedShards() {
  munmap(region_, region_bytes(shards_, shard_bytes_));
}

void* SharedShards::next() {
  return address_of(next_.fetch_add(1, std::memory_order_relaxed) % shards_);
}

bool SharedShards::add_class(ClassId id, const ClassInfo& info) {
  if (id.value >= kClassesMax) return false;
  classes_[id.value] = {info.base_bytes, info.element_bytes, std::max(1u, info.align_bytes)};
  return true;
}

unsigned shards_for_this_machine() {
  constexpr unsigned kShardsOfACore = 4;
  return kShardsOfACore * deferred::usable_cores();
}

}  // namespace contrafact::online
