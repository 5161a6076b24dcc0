// BufferPool: buffers of three sizes out of one bounded piece of address space. Memory becomes resident when it is
// touched.
//
// Thread safety: everything, lock-free.
// Invariants:
//  1. The buffers ever made, with their headers, take at most memory_bytes_max.
//  2. Buffers are never unmapped before the pool, so a stale pointer in a free list is readable, and its tag tells it
//  apart.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>

#include "base/result.h"
#include "deferred/buffer.h"

namespace contrafact::deferred {

// Calls. The first is for threads that hardly do anything, and there may be thousands; the last amortises a swap.
inline constexpr std::array<uint32_t, 3> kCapacities{64, 512, 4096};
inline constexpr uint32_t kSizeClasses = kCapacities.size();

class BufferPool {
 public:
  static base::Result<std::unique_ptr<BufferPool>> create(const Layout& layout, uint64_t memory_bytes_max);
  ~BufferPool();
  BufferPool(const BufferPool&) = delete;
  BufferPool& operator=(const BufferPool&) = delete;

  // An empty buffer of that size; of another if there is none; null if there is none at all.
  Buffer* take(uint32_t size_class);
  void put(Buffer* buffer);

  uint64_t bytes_made() const { return made_bytes_.load(std::memory_order_relaxed); }
  // Buffers out of the pool's hands. Exact when nobody takes or puts.
  int64_t buffers_out() const { return out_.load(std::memory_order_relaxed); }

 private:
  BufferPool(const Layout& layout, uint8_t* region, uint64_t region_bytes);
  Buffer* pop(uint32_t size_class);
  Buffer* make(uint32_t size_class);
  Buffer* at(uint32_t place) const { return reinterpret_cast<Buffer*>(region_ + uint64_t{place - 1} * 64); }
  uint32_t place_of(const Buffer* buffer) const {
    return static_cast<uint32_t>((reinterpret_cast<const uint8_t*>(buffer) - region_) / 64 + 1);
  }

  Layout layout_;
  uint8_t* region_;
  uint64_t region_bytes_;
  std::array<uint64_t, kSizeClasses> class_bytes_{};
  alignas(64) std::atomic<uint64_t> made_bytes_{0};
  std::atomic<int64_t> out_{0};
  // Head of each free list: a count of changes in the upper half (so that a head that came back is not mistaken for one
  // that stayed), the place of the first buffer in the lower, 0 for none. A place is an address within the region, in
  // lines.
  struct alignas(64) FreeList {
    std::atomic<uint64_t> head{0};
  };
  std::array<FreeList, kSizeClasses> free_;
};

}  // namespace contrafact::deferred
