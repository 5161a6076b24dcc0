#include "deferred/buffer_pool.h"

#include <sys/mman.h>

#include <cerrno>
#include <cstring>
#include <new>

namespace contrafact::deferred {
namespace {

constexpr uint64_t kLineBytes = 64;
constexpr uint64_t kRegionBytesMax = uint64_t{UINT32_MAX - 1} * kLineBytes;  // places are 32 bits

uint64_t round_up(uint64_t n, uint64_t to) {
  return (n + to - 1) / to * to;
}

uint64_t column_bytes(const Layout& layout, size_t column, uint32_t capacity) {
  const uint64_t calls = uint64_t{capacity} + CONTRAFACT_BUFFER_SLACK;
  return round_up(calls * layout.element_bytes[column] * layout.elements_per_call[column], 8);
}
uint64_t id_bytes(uint32_t capacity) {
  return round_up((uint64_t{capacity} + CONTRAFACT_BUFFER_SLACK) * sizeof(uint16_t), 8);
}

}  // namespace

base::Result<std::unique_ptr<BufferPool>> BufferPool::create(const Layout& layout, uint64_t memory_bytes_max) {
  const uint64_t region_bytes = std::min(memory_bytes_max, kRegionBytesMax) / kLineBytes * kLineBytes;
  if (region_bytes == 0) return base::Error{"the memory for buffers is 0; give it at least a few KiB"};
  void* region =
      mmap(nullptr, region_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (region == MAP_FAILED) {
    return base::Error{"cannot reserve " + std::to_string(region_bytes) +
                       " bytes for buffers: " + std::strerror(errno)};
  }
  return std::unique_ptr<BufferPool>(new BufferPool(layout, static_cast<uint8_t*>(region), region_bytes));
}

BufferPool::BufferPool(const Layout& layout, uint8_t* region, uint64_t region_bytes)
    : layout_(layout), region_(region), region_bytes_(region_bytes) {
  for (uint32_t size_class = 0; size_class < kSizeClasses; ++size_class) {
    uint64_t bytes = sizeof(Buffer) + id_bytes(kCapacities[size_class]);
    for (size_t column = 0; column < kColumnsMax; ++column)
      bytes += column_bytes(layout, column, kCapacities[size_class]);
    class_bytes_[size_class] = round_up(bytes, kLineBytes);
  }
}

BufferPool::~BufferPool() {
  munmap(region_, region_bytes_);
}

Buffer* BufferPool::take(uint32_t size_class) {
  Buffer* buffer = pop(size_class);
  if (!buffer) buffer = make(size_class);
  for (uint32_t other = kSizeClasses; !buffer && other-- > 0;) buffer = pop(other);
  for (uint32_t other = size_class; !buffer && other-- > 0;) buffer = make(other);
  if (buffer) out_.fetch_add(1, std::memory_order_relaxed);
  return buffer;
}

Buffer* BufferPool::pop(uint32_t size_class) {
  std::atomic<uint64_t>& list = free_[size_class].head;
  uint64_t head = list.load(std::memory_order_acquire);
  for (;;) {
    const auto place = static_cast<uint32_t>(head);
    if (place == 0) return nullptr;
    const uint64_t next = at(place)->free_next.load(std::memory_order_relaxed);
    const uint64_t wanted = ((head >> 32) + 1) << 32 | next;
    if (list.compare_exchange_weak(head, wanted, std::memory_order_acquire)) return at(place);
  }
}

void BufferPool::put(Buffer* buffer) {
  std::atomic<uint64_t>& list = free_[buffer->size_class].head;
  uint64_t head = list.load(std::memory_order_relaxed);
  uint64_t wanted;
  do {
    buffer->free_next.store(static_cast<uint32_t>(head), std::memory_order_relaxed);
    wanted = ((head >> 32) + 1) << 32 | place_of(buffer);
  } while (!list.compare_exchange_weak(head, wanted, std::memory_order_acq_rel, std::memory_order_relaxed));
  out_.fetch_sub(1, std::memory_order_relaxed);
}

Buffer* BufferPool::make(uint32_t size_class) {
  const uint64_t bytes = class_bytes_[size_class];
  uint64_t begin = made_bytes_.load(std::memory_order_relaxed);
  do {
    if (bytes > region_bytes_ - begin) return nullptr;
  } while (!made_bytes_.compare_exchange_weak(begin, begin + bytes, std::memory_order_relaxed));
  auto* buffer = new (region_ + begin) Buffer;
  buffer->size_class = size_class;
  buffer->header.capacity = kCapacities[size_class];
  uint8_t* at = region_ + begin + sizeof(Buffer);
  buffer->header.ids = reinterpret_cast<uint64_t>(at);
  at += id_bytes(kCapacities[size_class]);
  for (size_t column = 0; column < kColumnsMax; ++column) {
    const uint64_t column_size = column_bytes(layout_, column, kCapacities[size_class]);
    if (column_size > 0) buffer->header.column[column] = reinterpret_cast<uint64_t>(at);
    at += column_size;
  }
  return buffer;
}

}  // namespace contrafact::deferred
