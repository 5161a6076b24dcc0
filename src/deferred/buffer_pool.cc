#include "deferred/buffer_pool.h"

#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <new>
#include <string>

#include "base/check.h"
#include "deferred/rounding.h"

namespace contrafact::deferred {
namespace {

constexpr uint64_t kLineBytes = 64;
constexpr uint64_t kRegionBytesMax = uint64_t{UINT32_MAX - 1} * kLineBytes;  // places are 32 bits

constexpr uint64_t kPagesWorthGivingUp = 4;  // up to two of a buffer's are shared with neighbours

uint64_t page_bytes() {
  static const auto bytes = static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
  return bytes;
}

uint64_t column_bytes(const Layout& layout, size_t column, uint32_t capacity) {
  const uint64_t calls = uint64_t{capacity} + CONTRAFACT_BUFFER_SLACK;
  const uint64_t beyond = column == 0 ? layout.elements_beyond : 0;
  return round_up((calls * layout.elements_per_call[column] + beyond) * layout.element_bytes[column], 8);
}
uint64_t id_bytes(const Layout& layout, uint32_t capacity) {
  if (layout.without_ids) return 0;
  return round_up((uint64_t{capacity} + CONTRAFACT_BUFFER_SLACK) * sizeof(uint16_t), 8);
}

}  // namespace

base::Result<std::unique_ptr<BufferPool>> BufferPool::create(const Layout& layout, const Options& options) {
  const uint64_t wanted = options.memory_bytes_max > kRegionBytesMax / options.address_space_factor
                              ? kRegionBytesMax
                              : options.memory_bytes_max * options.address_space_factor;
  const uint64_t region_bytes = wanted / kLineBytes * kLineBytes;
  if (region_bytes == 0) return base::Error{"the memory for buffers is 0; give it at least a few KiB"};
  void* region =
      mmap(nullptr, region_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (region == MAP_FAILED) {
    return base::Error{"cannot reserve " + std::to_string(region_bytes) +
                       " bytes for buffers: " + std::strerror(errno)};
  }
  auto state = std::make_unique<PoolState>();
  auto pool = std::make_unique<BufferPool>(layout, options, *state, static_cast<uint8_t*>(region));
  pool->own_state_ = std::move(state);
  pool->region_bytes_ = region_bytes;
  pool->gives_memory_up_ = options.address_space_factor > 1;
  return pool;
}

BufferPool::BufferPool(const Layout& layout, const Options& options, PoolState& state, uint8_t* region)
    : layout_(layout),
      memory_bytes_max_(options.memory_bytes_max),
      region_(region),
      region_bytes_(options.memory_bytes_max / kLineBytes * kLineBytes),
      size_classes_(static_cast<uint32_t>(options.capacities.size())),
      gives_memory_up_(false),
      state_(&state) {
  CHECK(size_classes_ > 0 && size_classes_ <= kSizeClassesMax);
  for (uint32_t size_class = 0; size_class < size_classes_; ++size_class) {
    const uint32_t capacity = capacities_[size_class] = options.capacities[size_class];
    uint64_t bytes = sizeof(Buffer) + id_bytes(layout, capacity);
    for (size_t column = 0; column < kColumnsMax; ++column) bytes += column_bytes(layout, column, capacity);
    class_bytes_[size_class] = round_up(bytes, kLineBytes);
  }
}

BufferPool::~BufferPool() {
  if (own_state_) munmap(region_, region_bytes_);
}

Buffer* BufferPool::take(uint32_t size_class) {
  Buffer* buffer = pop(state_->free[size_class]);
  if (!buffer) buffer = make(size_class);
  if (!buffer && gives_memory_up_) buffer = make_of_others_memory(size_class);
  for (uint32_t other = size_classes_; !buffer && other-- > 0;) buffer = pop(state_->free[other]);
  for (uint32_t other = size_class; !buffer && other-- > 0;) buffer = make(other);
  if (buffer) state_->out.fetch_add(1, std::memory_order_relaxed);
  return buffer;
}

Buffer* BufferPool::take_small() {
  Buffer* buffer = pop(state_->free[0]);
  if (!buffer) buffer = make(0, Bound::kIgnored);
  if (buffer) state_->out.fetch_add(1, std::memory_order_relaxed);
  return buffer;
}

void BufferPool::put(Buffer* buffer) {
  const uint32_t size_class = buffer->size_class;
  if (size_class >= size_classes_) return;  // overwritten, where another process shares the pool
  push(state_->free[size_class], buffer);
  state_->out.fetch_sub(1, std::memory_order_relaxed);
}

Buffer* BufferPool::pop(FreeList& list) {
  uint64_t head = list.head.load(std::memory_order_acquire);
  for (;;) {
    const auto place = static_cast<uint32_t>(head);
    if (place == 0) return nullptr;
    const uint64_t next = at(place)->free_next.load(std::memory_order_relaxed);
    const uint64_t wanted = ((head >> 32) + 1) << 32 | next;
    if (list.head.compare_exchange_weak(head, wanted, std::memory_order_acquire)) return at(place);
  }
}

void BufferPool::push(FreeList& list, Buffer* buffer) {
  uint64_t head = list.head.load(std::memory_order_relaxed);
  uint64_t wanted;
  do {
    buffer->free_next.store(static_cast<uint32_t>(head), std::memory_order_relaxed);
    wanted = ((head >> 32) + 1) << 32 | place_of(buffer);
  } while (!list.head.compare_exchange_weak(head, wanted, std::memory_order_acq_rel, std::memory_order_relaxed));
}

Buffer* BufferPool::make(uint32_t size_class, Bound bound) {
  if (Buffer* buffer = pop(state_->without_memory[size_class])) {
    if (account(bytes_given_up(*buffer), bound)) return buffer;
    push(state_->without_memory[size_class], buffer);
    return nullptr;
  }
  const uint64_t bytes = class_bytes_[size_class];
  if (!account(bytes, bound)) return nullptr;
  Buffer* buffer = carve(size_class);
  if (!buffer) state_->made_bytes.fetch_sub(bytes, std::memory_order_relaxed);
  return buffer;
}

bool BufferPool::account(uint64_t bytes, Bound bound) {
  uint64_t made = state_->made_bytes.load(std::memory_order_relaxed);
  do {
    if (bound == Bound::kKept && (made > memory_bytes_max_ || bytes > memory_bytes_max_ - made)) return false;
  } while (!state_->made_bytes.compare_exchange_weak(made, made + bytes, std::memory_order_relaxed));
  uint64_t most = state_->made_bytes_max.load(std::memory_order_relaxed);
  while (most < made + bytes &&
         !state_->made_bytes_max.compare_exchange_weak(most, made + bytes, std::memory_order_relaxed)) {
  }
  return true;
}

Buffer* BufferPool::carve(uint32_t size_class) {
  const uint64_t bytes = class_bytes_[size_class];
  uint64_t begin = state_->carved_bytes.load(std::memory_order_relaxed);
  do {
    if (bytes > region_bytes_ - begin) return nullptr;
  } while (!state_->carved_bytes.compare_exchange_weak(begin, begin + bytes, std::memory_order_relaxed));
  auto* buffer = new (region_ + begin) Buffer;
  buffer->size_class = size_class;
  buffer->header.capacity = capacities_[size_class];
  uint8_t* at = region_ + begin + sizeof(Buffer);
  buffer->header.ids = reinterpret_cast<uint64_t>(at);
  at += id_bytes(layout_, capacities_[size_class]);
  for (size_t column = 0; column < kColumnsMax; ++column) {
    const uint64_t column_size = column_bytes(layout_, column, capacities_[size_class]);
    if (column_size > 0) buffer->header.column[column] = reinterpret_cast<uint64_t>(at);
    at += column_size;
  }
  return buffer;
}

bool BufferPool::holds(const Buffer& buffer) const {
  const uint64_t begin = reinterpret_cast<uint64_t>(&buffer) - reinterpret_cast<uint64_t>(region_);
  return begin < region_bytes_ && buffer.size_class < size_classes_ &&
         class_bytes_[buffer.size_class] <= region_bytes_ - begin;
}

BufferPool::Columns BufferPool::columns_of(const Buffer& buffer) const {
  Columns columns;
  if (!holds(buffer)) return columns;
  const uint32_t capacity = capacities_[buffer.size_class];
  const uint8_t* at = reinterpret_cast<const uint8_t*>(&buffer) + sizeof(Buffer);
  columns.ids = reinterpret_cast<const uint16_t*>(at);
  at += id_bytes(layout_, capacity);
  for (size_t i = 0; i < kColumnsMax; ++i) {
    columns.column[i] = at;
    at += column_bytes(layout_, i, capacity);
    if (buffer.taken_cursor[i] > uint64_t{buffer.taken} * layout_.elements_per_call[i]) return columns;
  }
  columns.calls_max = capacity + CONTRAFACT_BUFFER_SLACK;
  return columns;
}

// Free buffers of other sizes lose their memory, the largest first, until there is enough for this one.
Buffer* BufferPool::make_of_others_memory(uint32_t size_class) {
  const bool address_space_left =
      region_bytes_ - state_->carved_bytes.load(std::memory_order_relaxed) >= class_bytes_[size_class] ||
      static_cast<uint32_t>(state_->without_memory[size_class].head.load(std::memory_order_relaxed)) != 0;
  if (!address_space_left || class_bytes_[size_class] > memory_bytes_max_) return nullptr;
  for (uint32_t other = size_classes_; other-- > 0;) {
    if (other == size_class || class_bytes_[other] < kPagesWorthGivingUp * page_bytes()) continue;
    while (Buffer* victim = pop(state_->free[other])) {
      give_memory_up(victim);
      if (Buffer* buffer = make(size_class)) return buffer;
    }
  }
  return nullptr;
}

void BufferPool::give_memory_up(Buffer* buffer) {
  const uint64_t bytes = bytes_given_up(*buffer);
  const uintptr_t first = round_up(reinterpret_cast<uintptr_t>(buffer) + sizeof(Buffer), page_bytes());
  madvise(reinterpret_cast<void*>(first), bytes, MADV_DONTNEED);
  push(state_->without_memory[buffer->size_class], buffer);
  state_->made_bytes.fetch_sub(bytes, std::memory_order_relaxed);
}

// All pages but those of the header, and those that it shares with its neighbours.
uint64_t BufferPool::bytes_given_up(const Buffer& buffer) const {
  const auto begin = reinterpret_cast<uintptr_t>(&buffer);
  const uintptr_t first = round_up(begin + sizeof(Buffer), page_bytes());
  const uintptr_t end = (begin + class_bytes_[buffer.size_class]) / page_bytes() * page_bytes();
  return end > first ? end - first : 0;
}

}  // namespace contrafact::deferred
