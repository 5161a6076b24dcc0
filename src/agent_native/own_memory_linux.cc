#include <sys/mman.h>

#include <bit>

#include "agent_native/own_memory.h"

namespace contrafact::agent_native {
namespace {

// Directly before what is handed out.
struct Head {
  uint64_t block;
  uint64_t bytes;
};

constexpr int kAddressBits = 48;
constexpr uint64_t kAddressMask = (uint64_t{1} << kAddressBits) - 1;

void* map(size_t bytes) {
  void* const pages = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  return pages == MAP_FAILED ? nullptr : pages;
}

// A free block begins with the address of the next one.
void set_next(uint64_t block, uint64_t next) {
  std::atomic_ref(*reinterpret_cast<uint64_t*>(block)).store(next, std::memory_order_relaxed);
}
// A thread that has taken the block meanwhile may be writing to it: then the value read here is thrown away. To
// ThreadSanitizer that is a race.
[[gnu::no_sanitize("thread"), gnu::noinline]] uint64_t next_of(uint64_t block) {
  return *reinterpret_cast<const volatile uint64_t*>(block);
}

uint64_t changed(uint64_t head, uint64_t block) {
  return ((head >> kAddressBits) + 1) << kAddressBits | block;
}

}  // namespace

void OwnMemory::Blocks::push(void* block) {
  const auto address = reinterpret_cast<uint64_t>(block);
  uint64_t head = head_.load(std::memory_order_relaxed);
  do {
    set_next(address, head & kAddressMask);
  } while (!head_.compare_exchange_weak(head, changed(head, address), std::memory_order_release));
}

void* OwnMemory::Blocks::pop() {
  uint64_t head = head_.load(std::memory_order_acquire);
  while ((head & kAddressMask) != 0) {
    const uint64_t next = next_of(head & kAddressMask) & kAddressMask;
    if (head_.compare_exchange_weak(head, changed(head, next), std::memory_order_acquire))
      return reinterpret_cast<void*>(head & kAddressMask);
  }
  return nullptr;
}

size_t OwnMemory::size_for(size_t bytes) {
  return bytes <= kSmallBytesMin ? 0 : static_cast<size_t>(std::bit_width((bytes - 1) / kSmallBytesMin));
}

void* OwnMemory::small_block(size_t size) {
  if (void* block = free_[size].pop()) return block;
  auto* const carved = static_cast<char*>(map(kCarvedBytes));
  if (!carved) return nullptr;
  const size_t bytes = kSmallBytesMin << size;
  for (size_t at = bytes; at < kCarvedBytes; at += bytes) free_[size].push(carved + at);
  return carved;
}

void* OwnMemory::allocate(size_t bytes, size_t alignment) {
  const size_t wanted = bytes + sizeof(Head) + (alignment > sizeof(Head) ? alignment : 0);
  if (wanted < bytes) return nullptr;
  const bool is_small = wanted <= kSmallBytesMax;
  void* const block = is_small ? small_block(size_for(wanted)) : map(wanted);
  if (!block) return nullptr;
  const auto begin = reinterpret_cast<uint64_t>(block);
  const uint64_t memory =
      alignment > sizeof(Head) ? (begin + sizeof(Head) + alignment - 1) / alignment * alignment : begin + sizeof(Head);
  reinterpret_cast<Head*>(memory)[-1] = {begin, wanted};
  return reinterpret_cast<void*>(memory);
}

void OwnMemory::release(void* memory) {
  if (!memory) return;
  const Head head = static_cast<Head*>(memory)[-1];
  void* const block = reinterpret_cast<void*>(head.block);
  if (head.bytes <= kSmallBytesMax) {
    free_[size_for(head.bytes)].push(block);
  } else {
    munmap(block, head.bytes);
  }
}

}  // namespace contrafact::agent_native
