#include "online/shared_counts.h"

#include <sys/mman.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <string>

namespace contrafact::online {

uint64_t SharedCounts::region_bytes(unsigned shards) {
  return shards * kShardBytes + kClassesMax * sizeof(ClassSize);
}

base::Result<std::unique_ptr<SharedCounts>> SharedCounts::create(unsigned shards) {
  const uint64_t bytes = region_bytes(shards);
  void* region = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (region == MAP_FAILED) {
    return base::Error{"cannot reserve " + std::to_string(bytes) + " bytes for shared counts: " + std::strerror(errno)};
  }
  // Entries are all over the tables: with small pages nearly each one would need its own translation.
  madvise(region, bytes, MADV_HUGEPAGE);
  return std::unique_ptr<SharedCounts>(new SharedCounts(static_cast<uint8_t*>(region), shards));
}

SharedCounts::SharedCounts(uint8_t* region, unsigned shards)
    : region_(region), shards_(shards), classes_(reinterpret_cast<ClassSize*>(region + shards * kShardBytes)) {}

SharedCounts::~SharedCounts() {
  munmap(region_, region_bytes(shards_));
}

SharedCounts::Shard& SharedCounts::next_shard() {
  return shard_at(next_.fetch_add(1, std::memory_order_relaxed) % shards_);
}

void SharedCounts::call(Shard& shard, uint32_t caller, uint32_t callee, uint64_t times) {
  const uint64_t key = uint64_t{caller} << 32 | callee;
  uint64_t place = key * kHashFactor >> (64 - kPlaceBits);
  for (uint32_t i = 0; i < kProbesMax; ++i, place = (place + 1) & (kPlaces - 1)) {
    Edge& edge = shard.edges[place];
    uint64_t found = edge.key.load(std::memory_order_relaxed);
    if (found == 0 && edge.key.compare_exchange_strong(found, key, std::memory_order_relaxed)) found = key;
    if (found != key) continue;
    edge.count.fetch_add(times, std::memory_order_relaxed);
    return;
  }
  std::lock_guard lock(mutex_);
  calls_beyond_[key] += times;
}

void SharedCounts::allocate(Shard& shard, uint32_t method, const Allocations& more) {
  if (method < kMethodsMax) {
    shard.methods[method].objects.fetch_add(more.objects, std::memory_order_relaxed);
    shard.methods[method].bytes.fetch_add(more.bytes, std::memory_order_relaxed);
    return;
  }
  std::lock_guard lock(mutex_);
  Allocations& sum = allocations_beyond_[method];
  sum.objects += more.objects;
  sum.bytes += more.bytes;
}

bool SharedCounts::add_class(ClassId id, const ClassInfo& info) {
  if (id.value >= kClassesMax) return false;
  classes_[id.value] = {info.base_bytes, info.element_bytes, std::max(1u, info.align_bytes)};
  return true;
}

uint64_t SharedCounts::events() const {
  uint64_t events = 0;
  for_each([&](uint64_t, uint64_t times) { events += times; },
           [&](uint32_t, const Allocations& sum) { events += sum.objects; });
  return events;
}

}  // namespace contrafact::online
