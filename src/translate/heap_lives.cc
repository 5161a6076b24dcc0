#include "translate/heap_lives.h"

#include <sys/mman.h>

#include <algorithm>

namespace contrafact::translate {
namespace {

constexpr uint64_t kLifeless = uint64_t{1} << kLifeShift;  // addresses from here on have no room for one

void* reserve(size_t bytes) {
  void* memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  return memory == MAP_FAILED ? nullptr : memory;
}

size_t slot_of(uint64_t page, size_t slots) {
  return page * 0x9e3779b97f4a7c15u >> 32 & (slots - 1);
}

}  // namespace

bool HeapLives::create() {
  lives_ = static_cast<Lives*>(reserve(kPages * sizeof(Lives)));
  if (lives_) pages_ = static_cast<std::atomic<uint64_t>*>(reserve(kPages * sizeof(uint64_t)));
  return pages_ != nullptr;
}

HeapLives::~HeapLives() {
  if (lives_) munmap(static_cast<void*>(lives_), kPages * sizeof(Lives));
  if (pages_) munmap(static_cast<void*>(pages_), kPages * sizeof(uint64_t));
}

const HeapLives::Lives* HeapLives::find(uint64_t page) const {
  const size_t at = slot_of(page, kPages);
  for (size_t i = 0; i < kProbes; ++i) {
    const size_t slot = (at + i) & (kPages - 1);
    const uint64_t known = pages_[slot].load(std::memory_order_acquire);
    if (known == page + 1) return &lives_[slot];
    if (known == 0) return nullptr;
  }
  return nullptr;
}

HeapLives::Lives* HeapLives::find_or_add(uint64_t page) {
  const size_t at = slot_of(page, kPages);
  for (size_t i = 0; i < kProbes; ++i) {
    const size_t slot = (at + i) & (kPages - 1);
    uint64_t known = pages_[slot].load(std::memory_order_acquire);
    if (known == 0 && pages_[slot].compare_exchange_strong(known, page + 1)) return &lives_[slot];
    if (known == page + 1) return &lives_[slot];
  }
  return nullptr;
}

// 8 bytes that two blocks share, because one begins or ends within, stay as they are.
void HeapLives::begin(uint64_t block, uint64_t bytes) {
  if (!pages_ || bytes > kBytesMax || block + bytes > kLifeless) return;
  const uint64_t end = (block + bytes) / kGrain * kGrain;
  uint64_t at = (block + kGrain - 1) / kGrain * kGrain;
  if (at >= end) return;
  // As a rule the latest of the blocks that lay there was at one of the ends; if not, two lives are joined.
  const uint16_t latest = std::max(this->at(at), this->at(end - kGrain));
  const auto next = static_cast<uint16_t>(1 + latest % UINT16_MAX);
  while (at < end) {
    const uint64_t page_end = std::min(end, (at / kPageBytes + 1) * kPageBytes);
    Lives* lives = find_or_add(at / kPageBytes);
    for (; at < page_end; at += kGrain) {
      if (lives) (*lives)[at % kPageBytes / kGrain].store(next, std::memory_order_relaxed);
    }
  }
  any_.store(true, std::memory_order_relaxed);
}

uint16_t HeapLives::at(uint64_t address) const {
  if (!pages_ || address >= kLifeless) return 0;
  const Lives* lives = find(address / kPageBytes);
  return lives ? (*lives)[address % kPageBytes / kGrain].load(std::memory_order_relaxed) : 0;
}

uint64_t HeapLives::end_of(uint64_t address, uint64_t end) const {
  if (!pages_ || address >= kLifeless) return end;
  const uint16_t life = at(address);
  while (address < end) {
    const uint64_t page_end = std::min(end, (address / kPageBytes + 1) * kPageBytes);
    const Lives* lives = find(address / kPageBytes);
    if (!lives && life != 0) return address;
    for (; lives && address < page_end; address = address / kGrain * kGrain + kGrain) {
      if ((*lives)[address % kPageBytes / kGrain].load(std::memory_order_relaxed) != life) return address;
    }
    address = page_end;
  }
  return end;
}

void SegmentBlocks::begin() {
  new_count_ = freed_count_ = 0;
}

// If it is unknown which blocks the segment freed, no block counts as new.
void SegmentBlocks::allocated(uint64_t block, uint64_t bytes, HeapLives& lives) {
  if (block == 0 || bytes == 0 || freed_count_ == kFreedMax) return;
  const auto touches = [&](const Block& other) { return other.begin < block + bytes && block < other.end; };
  if (std::any_of(freed_, freed_ + freed_count_, touches)) return;
  lives.begin(block, bytes);
  if (new_count_ < kNewMax) new_[new_count_++] = {block, block + bytes, 0};
}

void SegmentBlocks::gone(uint64_t block, uint64_t bytes, uint16_t life) {
  if (block != 0 && bytes != 0 && freed_count_ < kFreedMax) freed_[freed_count_++] = {block, block + bytes, life};
}

// No life begins where the segment has no room to remember the one before.
void SegmentBlocks::freed(uint64_t block, uint64_t bytes, HeapLives& lives) {
  if (block == 0 || bytes == 0 || freed_count_ == kFreedMax) return;
  gone(block, bytes, lives.at(block));
  lives.begin(block, bytes);
}

SegmentBlocks::Piece SegmentBlocks::piece_at(uint64_t begin, uint64_t end, const HeapLives& lives) const {
  const Block* const next =
      std::partition_point(new_, new_ + new_count_, [&](const Block& b) { return b.end <= begin; });
  if (next != new_ + new_count_ && next->begin < end) {
    if (next->begin <= begin) return {std::min(end, next->end), 0, true};
    end = next->begin;
  }
  for (size_t i = 0; i < freed_count_; ++i) {
    const Block& block = freed_[i];
    if (block.begin >= end || block.end <= begin) continue;
    if (block.begin <= begin) return {std::min(end, block.end), block.life, false};
    end = block.begin;
  }
  return {lives.end_of(begin, end), lives.at(begin), false};
}

size_t SegmentBlocks::name(std::span<const Access> from, Access* to, size_t room, const HeapLives& lives) {
  std::sort(new_, new_ + new_count_, [](const Block& x, const Block& y) { return x.begin < y.begin; });
  size_t count = 0;
  for (const Access& access : from) {
    const uint64_t end = access.begin + access.length_bytes;
    for (uint64_t at = access.begin; at < end;) {
      const Piece piece = end <= kLifeless ? piece_at(at, end, lives) : Piece{end, 0, false};
      if (!piece.is_new) {
        if (count++ < room) {
          to[count - 1] = {at | uint64_t{piece.life} << kLifeShift, static_cast<uint32_t>(piece.end - at),
                           access.flags};
        }
      }
      at = piece.end;
    }
  }
  return count;
}

}  // namespace contrafact::translate
