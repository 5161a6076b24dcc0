// SharedCounts: the blueprint's counts as a good engineer would share them between threads without deferred methods.
// Calls are counted by caller and callee in a table that only gains entries, each claimed by one compare-and-swap;
// objects and bytes in counters that the method's id finds without hashing; all by relaxed additions. Counts that no
// longer fit go into a map under a lock, so that none is lost or searched for ever. Readers add the shards up.
//
// The layout is a contract with java/java/lang/ContrafactDirect.java. A shard at address S:
//
//   S                  Method[kMethodsMax]   objects, bytes
//   S + kEdgesOffset   Edge[kPlaces]         caller << 32 | callee, 0: free; how often. Its place: the upper bits of
//                                            the key times kHashFactor, or the next free one of kProbesMax
//
// Memory: 21 MiB of address space a shard. Thread safety: all of it.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <unordered_map>

#include "online/shared_shards.h"

namespace contrafact::online {

class SharedCounts : public SharedShards {
 public:
  static constexpr int kPlaceBits = 20;
  static constexpr uint64_t kPlaces = uint64_t{1} << kPlaceBits;
  static constexpr uint32_t kMethodsMax = 1 << 18;

  struct Method {
    std::atomic<uint64_t> objects, bytes;
  };
  struct Edge {
    std::atomic<uint64_t> key, count;
  };
  static constexpr uint64_t kEdgesOffset = kMethodsMax * sizeof(Method);
  static constexpr uint64_t kShardBytes = kEdgesOffset + kPlaces * sizeof(Edge);
  static_assert(sizeof(Method) == 16 && sizeof(Edge) == 16, "ContrafactDirect.java");

  struct Shard {
    Method methods[kMethodsMax];
    Edge edges[kPlaces];
  };
  static_assert(offsetof(Shard, edges) == kEdgesOffset && sizeof(Shard) == kShardBytes, "ContrafactDirect.java");

  static base::Result<std::unique_ptr<SharedCounts>> create(unsigned shards);

  Shard& next_shard() { return *static_cast<Shard*>(next()); }
  void call(Shard& shard, uint32_t caller, uint32_t callee, uint64_t times = 1);
  void allocate(Shard& shard, uint32_t method, const Allocations& more);

  uint64_t events() const override;
  // Sums over all shards, in no order; a key may come several times.
  template <typename OnCall, typename OnAllocations>
  void for_each(OnCall on_call, OnAllocations on_allocations) const {
    for (unsigned i = 0; i < shards(); ++i) {
      for (uint32_t method = 0; method < kMethodsMax; ++method) {
        const Method& counts = shard_at(i).methods[method];
        if (const uint64_t objects = counts.objects.load())
          on_allocations(method, Allocations{objects, counts.bytes.load()});
      }
      for (const Edge& edge : shard_at(i).edges) {
        if (const uint64_t key = edge.key.load()) on_call(key, edge.count.load());
      }
    }
    std::lock_guard lock(mutex_);
    for (const auto& [key, count] : calls_beyond_) on_call(key, count);
    for (const auto& [method, sum] : allocations_beyond_) on_allocations(method, sum);
  }

 private:
  using SharedShards::SharedShards;
  const Shard& shard_at(unsigned i) const { return *static_cast<const Shard*>(address_of(i)); }

  mutable std::mutex mutex_;
  std::unordered_map<uint64_t, uint64_t> calls_beyond_;
  std::unordered_map<uint32_t, Allocations> allocations_beyond_;
};

}  // namespace contrafact::online
