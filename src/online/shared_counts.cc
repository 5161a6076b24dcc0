#include "online/shared_counts.h"

namespace contrafact::online {

base::Result<std::unique_ptr<SharedCounts>> SharedCounts::create(unsigned shards) {
  base::Result<uint8_t*> region = reserve(shards, kShardBytes);
  if (!region) return region.error();
  return std::unique_ptr<SharedCounts>(new SharedCounts(*region, shards, kShardBytes));
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

uint64_t SharedCounts::events() const {
  uint64_t events = 0;
  for_each([&](uint64_t, uint64_t times) { events += times; },
           [&](uint32_t, const Allocations& sum) { events += sum.objects; });
  return events;
}

}  // namespace contrafact::online
