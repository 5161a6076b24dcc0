// SharedShards: counts every event at once in memory that all threads share, without buffers (--processor direct).
// There are a few shards for each core, as in java.util.concurrent's LongAdder: each thread keeps to one, so that
// threads seldom write the same line. Derived classes define what is in a shard. Beside the shards are the sizes of
// classes, by id.
//
// The injected code counts in a shard without a native call: layouts are contracts with the classes of java/java/lang.
//
// Memory: what is touched is resident, the rest is address space. Thread safety: all of it; add_class once for each id,
// before the id is used.
#pragma once

#include <atomic>
#include <cstdint>

#include "base/result.h"
#include "online/names.h"

namespace contrafact::online {

struct Allocations {
  uint64_t objects = 0;
  uint64_t bytes = 0;
};

class SharedShards {
 public:
  static constexpr uint64_t kHashFactor = 0x9E3779B97F4A7C15;
  static constexpr uint32_t kProbesMax = 64;  // of a table three quarters full, one search in a thousand takes as many
  static constexpr uint32_t kClassesMax = 1 << 18;

  struct ClassSize {
    uint64_t base_bytes;
    uint32_t element_bytes;
    uint32_t align_bytes;  // 1 where there is nothing to round
  };
  static_assert(sizeof(ClassSize) == 16, "ContrafactDirect.java");

  virtual ~SharedShards();
  SharedShards(const SharedShards&) = delete;
  SharedShards& operator=(const SharedShards&) = delete;

  // The address of a shard. Threads take them in turn.
  void* next();
  // False if there are too many.
  bool add_class(ClassId id, const ClassInfo& info);
  ClassSize* classes() const { return classes_; }
  // What was counted so far.
  virtual uint64_t events() const = 0;

 protected:
  static base::Result<uint8_t*> reserve(unsigned shards, uint64_t shard_bytes);
  // `region` is what `reserve` returned for the same sizes.
  SharedShards(uint8_t* region, unsigned shards, uint64_t shard_bytes);
  void* address_of(unsigned shard) const { return region_ + shard * shard_bytes_; }
  unsigned shards() const { return shards_; }

 private:
  uint8_t* const region_;
  const unsigned shards_;
  const uint64_t shard_bytes_;
  ClassSize* const classes_;
  std::atomic<unsigned> next_{0};
};

// Threads take shards in turn: with one for each core, two busy threads would often meet in one.
unsigned shards_for_this_machine();

}  // namespace contrafact::online
