// Which life of its memory an access of a segment belongs to. An allocator hands out freed memory again, to whatever
// asks next: two objects that lie at one address, one after the other, have nothing to do with each other. A block that
// translated code allocates or frees begins a life, whose number becomes part of the addresses of accesses there. The
// number is one more than the last at the block's ends, so that none comes again before 65,535 others:
//
//     63  62         47 46          0
//      0 |    life     |   address     life 0: translated code neither allocated nor freed the memory so far
//
// A block that was allocated in the segment itself is left out of the segment's set altogether, as are stack frames
// that came into being in it: another thread can reach it only by a pointer that this thread wrote somewhere, and that
// write is in the set. This ends with the segment.
//
// Missing knowledge joins lives, and never parts one: memory that native code frees and allocates again stays in the
// life that it was in. Memory that a segment frees and allocates again counts as if it had done neither. Only where
// another thread frees a block while a segment that accessed it before still goes on, that segment's accesses are taken
// for those of the next life.
//
// Thread safety: HeapLives: all of it, but begin() of one block while it is anybody else's. SegmentBlocks: its
// thread's. Allocates nothing after create(); an address costs a look-up in a hash table of pages.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>

#include "translate/segment.h"

namespace contrafact::translate {

inline constexpr int kLifeShift = 47;

class HeapLives {
 public:
  HeapLives() = default;
  ~HeapLives();
  HeapLives(const HeapLives&) = delete;
  HeapLives& operator=(const HeapLives&) = delete;
  // Maps its tables; false: no memory, and nothing has a life.
  bool create();

  // [block, block + bytes) changes its owner here: an allocator has handed it out, or is about to take it back.
  void begin(uint64_t block, uint64_t bytes);
  uint16_t at(uint64_t address) const;
  // The first address behind `address` that may have another life than it, `end` if none before has.
  uint64_t end_of(uint64_t address, uint64_t end) const;
  bool any() const { return any_.load(std::memory_order_relaxed); }

 private:
  // 8 bytes have a life of their own: no allocator hands out less.
  static constexpr uint64_t kGrain = 8, kPageBytes = 4096, kGrains = kPageBytes / kGrain;
  static constexpr size_t kPages = 1 << 15, kProbes = 16;  // of memory that had lives: 128 MiB
  static constexpr uint64_t kBytesMax = 64 << 10;          // larger blocks stay in the life that was there

  using Lives = std::atomic<uint16_t>[kGrains];
  const Lives* find(uint64_t page) const;
  Lives* find_or_add(uint64_t page);

  std::atomic<uint64_t>* pages_ = nullptr;  // a page's number, plus 1
  Lives* lives_ = nullptr;                  // parallel
  std::atomic<bool> any_{false};
};

// What a segment's thread allocated and freed in it. All zero at first, as begin() leaves it.
class SegmentBlocks {
 public:
  void begin();
  void allocated(uint64_t block, uint64_t bytes, HeapLives& lives);
  void freed(uint64_t block, uint64_t bytes, HeapLives& lives);
  // Freed without a word before: it was in `life` then, and may be anybody's by now.
  void gone(uint64_t block, uint64_t bytes, uint16_t life);

  // `from` without what lies in new blocks, and with lives in its addresses. Returns how many there are; more than
  // `room`: there was not enough of it, and `to` holds the first ones.
  size_t name(std::span<const Access> from, Access* to, size_t room, const HeapLives& lives);

 private:
  static constexpr size_t kNewMax = 256, kFreedMax = 64;
  struct Block {
    uint64_t begin, end;
    uint16_t life;
  };
  // The piece of [begin, end) at its begin that is treated alike.
  struct Piece {
    uint64_t end;
    uint16_t life;
    bool is_new;
  };
  Piece piece_at(uint64_t begin, uint64_t end, const HeapLives& lives) const;

  size_t new_count_ = 0, freed_count_ = 0;
  Block new_[kNewMax];  // sorted by name()
  Block freed_[kFreedMax];
};

}  // namespace contrafact::translate
