// SharedCounts: the blueprint's counts as a good engineer would share them between threads without deferred methods.
// Calls by caller and callee in a table that only gains entries, each claimed by one compare-and-swap; objects and
// bytes in counters that the method's id finds without hashing; all counted by relaxed additions. What no longer fits
// goes into a map under a lock, so that nothing is lost or searched for ever. There are a few
// shards of all that for each core, as in java.util.concurrent's LongAdder: each thread keeps to one, so that
// threads seldom write the same line. Readers add the shards up.
//
// The injected code counts in a shard without a native call (--processor direct): the layout is a contract with
// java/java/lang/ContrafactDirect.java. A shard at address S:
//
//   S                  Method[kMethodsMax]   objects, bytes
//   S + kEdgesOffset   Edge[kPlaces]         caller << 32 | callee, 0: free; how often. Its place: the upper bits of
//                                            the key times kHashFactor, or the next free one of kProbesMax
//   classes()          ClassSize[kClassesMax]
//
// Memory: 21 MiB of address space a shard; resident is what has been touched. Thread safety: all of it; add_class once
// for each id, before the id is used.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <unordered_map>

#include "base/result.h"
#include "online/names.h"

namespace contrafact::online {

struct Allocations {
  uint64_t objects = 0;
  uint64_t bytes = 0;
};

class SharedCounts {
 public:
  static constexpr int kPlaceBits = 20;
  static constexpr uint64_t kPlaces = uint64_t{1} << kPlaceBits;
  static constexpr uint64_t kHashFactor = 0x9E3779B97F4A7C15;
  static constexpr uint32_t kProbesMax = 64;  // at three quarters full, one search in a thousand takes as many
  static constexpr uint32_t kMethodsMax = 1 << 18;
  static constexpr uint32_t kClassesMax = 1 << 18;

  struct Method {
    std::atomic<uint64_t> objects, bytes;
  };
  struct Edge {
    std::atomic<uint64_t> key, count;
  };
  struct ClassSize {
    uint64_t base_bytes;
    uint32_t element_bytes;
    uint32_t align_bytes;  // 1 where there is nothing to round
  };
  static constexpr uint64_t kEdgesOffset = kMethodsMax * sizeof(Method);
  static constexpr uint64_t kShardBytes = kEdgesOffset + kPlaces * sizeof(Edge);
  static_assert(sizeof(Method) == 16 && sizeof(Edge) == 16 && sizeof(ClassSize) == 16, "ContrafactDirect.java");

  struct Shard {
    Method methods[kMethodsMax];
    Edge edges[kPlaces];
  };
  static_assert(offsetof(Shard, edges) == kEdgesOffset && sizeof(Shard) == kShardBytes, "ContrafactDirect.java");

  static base::Result<std::unique_ptr<SharedCounts>> create(unsigned shards);
  ~SharedCounts();
  SharedCounts(const SharedCounts&) = delete;
  SharedCounts& operator=(const SharedCounts&) = delete;

  // Threads take them in turn.
  Shard& next_shard();
  void call(Shard& shard, uint32_t caller, uint32_t callee, uint64_t times = 1);
  void allocate(Shard& shard, uint32_t method, const Allocations& more);

  // False if there are too many.
  bool add_class(ClassId id, const ClassInfo& info);
  ClassSize* classes() const { return classes_; }

  uint64_t events() const;
  // Sums over all shards, in no order; a key may come several times.
  template <typename OnCall, typename OnAllocations>
  void for_each(OnCall on_call, OnAllocations on_allocations) const {
    for (unsigned i = 0; i < shards_; ++i) {
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
  SharedCounts(uint8_t* region, unsigned shards);
  static uint64_t region_bytes(unsigned shards);
  Shard& shard_at(unsigned i) const { return *reinterpret_cast<Shard*>(region_ + i * kShardBytes); }

  uint8_t* const region_;
  const unsigned shards_;
  ClassSize* const classes_;
  std::atomic<unsigned> next_{0};
  mutable std::mutex mutex_;
  std::unordered_map<uint64_t, uint64_t> calls_beyond_;
  std::unordered_map<uint32_t, Allocations> allocations_beyond_;
};

}  // namespace contrafact::online
