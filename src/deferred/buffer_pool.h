// BufferPool: buffers of a few sizes out of one piece of address space. Memory becomes resident when it is touched.
//
// Two pools may share buffers: of two processes, each with its own view of memory that both see (shared_area.h). Then
// all that changes lies in that memory, as PoolState and in the buffers; addresses in the buffers' headers are those of
// the process whose pool made them.
//
// Thread safety: everything, lock-free, in signal handlers too. No system call where there is no more address space
// than memory. Invariants:
//  1. The buffers that may be resident, with their headers, take at most memory_bytes_max, but for those of
//  take_small().
//  2. Buffers are never unmapped before the pool, so a stale pointer in a free list is readable, and its tag tells it
//  apart.
//  3. Where there is more address space than memory, a free buffer of one size gives its memory up for another size.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <span>

#include "base/result.h"
#include "deferred/buffer.h"

namespace contrafact::deferred {

inline constexpr uint32_t kSizeClassesMax = 17;

// Common to the pools that share buffers: counts and the heads of free lists. All zero at first.
//
// Head of a free list: a count of changes in the upper half (so that a head that came back is not mistaken for one that
// stayed), the place of the first buffer in the lower, 0 for none. A place is an address within the region, in lines.
struct PoolState {
  struct alignas(64) FreeList {
    std::atomic<uint64_t> head{0};
  };
  alignas(64) std::atomic<uint64_t> carved_bytes{0};  // of the region
  std::atomic<uint64_t> made_bytes{0};
  std::atomic<uint64_t> made_bytes_max{0};
  std::atomic<int64_t> out{0};
  std::array<FreeList, kSizeClassesMax> free;
  std::array<FreeList, kSizeClassesMax> without_memory;  // free, but the memory was given up
};

class BufferPool {
 public:
  struct Options {
    // Calls that the buffers of each size class hold, ascending; at most kSizeClassesMax.
    std::span<const uint32_t> capacities;
    uint64_t memory_bytes_max = 0;
    // Address space, in multiples of the memory: how often all of the memory can go to another size class.
    uint64_t address_space_factor = 1;
  };
  static base::Result<std::unique_ptr<BufferPool>> create(const Layout& layout, const Options& options);
  // Over memory that outlives the pool: `region` of options.memory_bytes_max bytes, the same for all pools that share
  // it, and with the same layout. REQUIRES: options.address_space_factor is 1; `region` is aligned to 64 bytes.
  BufferPool(const Layout& layout, const Options& options, PoolState& state, uint8_t* region);
  ~BufferPool();
  BufferPool(const BufferPool&) = delete;
  BufferPool& operator=(const BufferPool&) = delete;

  // An empty buffer of that size; of another if there is none; null if there is none at all.
  Buffer* take(uint32_t size_class);
  void put(Buffer* buffer);
  // One of the smallest size, beyond the bound if need be. Null only without address space.
  Buffer* take_small();

  // Where a buffer's calls are in this pool's view, whatever the buffer's own header says. calls_max is 0 for memory
  // that is none of the pool's buffers, and for a buffer whose cursors are behind what `taken` calls have used.
  struct Columns {
    uint32_t calls_max = 0;
    const uint16_t* ids = nullptr;
    std::array<const void*, kColumnsMax> column{};
  };
  Columns columns_of(const Buffer& buffer) const;
  // Whether it may be one of the pool's buffers.
  bool holds(const Buffer& buffer) const;

  // Whether there are more of take_small()'s than the memory has room for.
  bool beyond_the_bound() const { return bytes_made() > memory_bytes_max_; }

  // Bytes of buffers that may be resident, now and at most so far.
  uint64_t bytes_made() const { return state_->made_bytes.load(std::memory_order_relaxed); }
  uint64_t bytes_made_max() const { return state_->made_bytes_max.load(std::memory_order_relaxed); }
  // Buffers out of the pool's hands. Exact when nobody takes or puts.
  int64_t buffers_out() const { return state_->out.load(std::memory_order_relaxed); }

 private:
  enum class Bound { kKept, kIgnored };
  using FreeList = PoolState::FreeList;
  Buffer* pop(FreeList& list);
  void push(FreeList& list, Buffer* buffer);
  Buffer* make(uint32_t size_class, Bound bound = Bound::kKept);
  bool account(uint64_t bytes, Bound bound);
  Buffer* carve(uint32_t size_class);
  Buffer* make_of_others_memory(uint32_t size_class);
  void give_memory_up(Buffer* buffer);
  uint64_t bytes_given_up(const Buffer& buffer) const;
  Buffer* at(uint32_t place) const { return reinterpret_cast<Buffer*>(region_ + uint64_t{place - 1} * 64); }
  uint32_t place_of(const Buffer* buffer) const {
    return static_cast<uint32_t>((reinterpret_cast<const uint8_t*>(buffer) - region_) / 64 + 1);
  }

  Layout layout_;
  uint64_t memory_bytes_max_;
  uint8_t* region_;
  uint64_t region_bytes_;
  uint32_t size_classes_;
  std::array<uint32_t, kSizeClassesMax> capacities_{};
  std::array<uint64_t, kSizeClassesMax> class_bytes_{};
  bool gives_memory_up_;
  PoolState* state_;
  std::unique_ptr<PoolState> own_state_;  // and the region is its own: null for a pool over others' memory
};

}  // namespace contrafact::deferred
