#include "translate/code_cache.h"

#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <string>

namespace contrafact::translate {
namespace {

constexpr size_t kCodeAlignment = 16;
constexpr size_t kKeyBytes = 8;

base::Error no_memory(const char* what) {
  return base::Error{std::string("no memory for translated code: ") + what + ": " + strerrordesc_np(errno)};
}

}  // namespace

template <typename T>
T* CodeCache::reserve(size_t count) {
  void* memory =
      mmap(nullptr, count * sizeof(T), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  return memory == MAP_FAILED ? nullptr : static_cast<T*>(memory);
}

base::Result<std::unique_ptr<CodeCache>> CodeCache::create(size_t code_bytes) {
  std::unique_ptr<CodeCache> cache(new CodeCache);
  const size_t link_bytes = kLinksMax * sizeof(uint64_t);
  cache->code_bytes_ = code_bytes;
  // Beyond the limit the kernel would end the program by a signal.
  rlimit limit;
  if (getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur < code_bytes) {
    return base::Error{"no memory for translated code: files may not be that large here (ulimit -f)"};
  }
  cache->file_ = memfd_create("contrafact-code", MFD_CLOEXEC);
  if (cache->file_ < 0 || ftruncate(cache->file_, static_cast<off_t>(code_bytes)) != 0)
    return no_memory("memfd_create");
  void* writable = mmap(nullptr, code_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, cache->file_, 0);
  // The links next to the code: within reach of its addressing.
  void* both = mmap(nullptr, code_bytes + link_bytes, PROT_READ | PROT_WRITE,
                    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (writable == MAP_FAILED || both == MAP_FAILED) return no_memory("mmap");
  void* executable = mmap(both, code_bytes, PROT_READ | PROT_EXEC, MAP_SHARED | MAP_FIXED, cache->file_, 0);
  if (executable == MAP_FAILED) return no_memory("mapping it executable");
  close(cache->file_);
  cache->file_ = -1;
  cache->writable_ = static_cast<uint8_t*>(writable);
  cache->executable_ = reinterpret_cast<uint64_t>(executable);
  cache->links_ = reinterpret_cast<uint64_t*>(cache->executable_ + code_bytes);
  cache->link_info_ = reserve<LinkInfo>(kLinksMax);
  cache->lookup_ = reserve<uint64_t>(kLookups);
  cache->blocks_ = reserve<Block>(kBlocksMax);
  cache->table_ = reserve<uint32_t>(kTableSlots);
  cache->marks_ = reserve<Mark>(kMarksMax);
  if (!cache->link_info_ || !cache->lookup_ || !cache->blocks_ || !cache->table_ || !cache->marks_)
    return no_memory("mmap");
  return cache;
}

CodeCache::~CodeCache() {
  if (file_ >= 0) close(file_);
  if (writable_) munmap(writable_, code_bytes_);
  if (executable_ != 0) munmap(reinterpret_cast<void*>(executable_), code_bytes_ + kLinksMax * sizeof(uint64_t));
  if (link_info_) munmap(link_info_, kLinksMax * sizeof(LinkInfo));
  if (lookup_) munmap(lookup_, kLookups * sizeof(uint64_t));
  if (blocks_) munmap(blocks_, kBlocksMax * sizeof(Block));
  if (table_) munmap(table_, kTableSlots * sizeof(uint32_t));
  if (marks_) munmap(marks_, kMarksMax * sizeof(Mark));
}

bool CodeCache::has_room(size_t bytes, uint32_t marks, uint32_t links) const {
  return used_ + bytes + 2 * kCodeAlignment <= code_bytes_ && mark_count_ + marks <= kMarksMax &&
         link_count_ + links <= kLinksMax && block_count_.load(std::memory_order_relaxed) < kBlocksMax;
}

uint64_t CodeCache::begin_code(uint64_t guest) {
  used_ = (used_ + kKeyBytes + kCodeAlignment - 1) / kCodeAlignment * kCodeAlignment;
  std::memcpy(writable_ + used_ - kKeyBytes, &guest, kKeyBytes);
  return executable_ + used_;
}

uint32_t CodeCache::slot_of(uint64_t guest) const {
  auto slot = static_cast<uint32_t>((guest * 0x9e3779b97f4a7c15u) >> 40) % kTableSlots;
  while (table_[slot] != 0) {
    const Block& block = blocks_[table_[slot] - 1];
    if (block.guest == guest && !block.is_dead) break;
    slot = (slot + 1) % kTableSlots;
  }
  return slot;
}

uint32_t CodeCache::add_block(uint64_t guest, uint64_t guest_end, size_t code_bytes, uint32_t marks, uint32_t links) {
  const uint32_t number = block_count_.load(std::memory_order_relaxed);
  blocks_[number] = {
      guest,       guest_end, static_cast<uint32_t>(used_), static_cast<uint32_t>(code_bytes), mark_count_, marks,
      link_count_, false};
  table_[slot_of(guest)] = number + 1;
  used_ += code_bytes;
  mark_count_ += marks;
  link_count_ += links;
  block_count_.store(number + 1, std::memory_order_release);
  return number;
}

uint64_t CodeCache::find(uint64_t guest) const {
  const uint32_t number = table_[slot_of(guest)];
  return number == 0 ? 0 : executable_ + blocks_[number - 1].code;
}

void CodeCache::set_lookup(uint64_t guest, uint64_t code) {
  std::atomic_ref(lookup_[guest % kLookups]).store(code, std::memory_order_release);
}

void CodeCache::set_default_lookup(uint64_t code) {
  std::fill_n(lookup_, kLookups, code);
}

const Block* CodeCache::find_block(uint64_t code_address) const {
  if (!holds(code_address)) return nullptr;
  const auto offset = static_cast<uint32_t>(code_address - executable_);
  const uint32_t count = block_count_.load(std::memory_order_acquire);
  const Block* behind = std::upper_bound(blocks_, blocks_ + count, offset,
                                         [](uint32_t at, const Block& block) { return at < block.code; });
  if (behind == blocks_) return nullptr;
  const Block* block = behind - 1;
  return offset - block->code < block->code_bytes ? block : nullptr;
}

const Mark* CodeCache::mark_at(const Block& block, uint64_t code_address) const {
  const Mark* begin = marks_ + block.first_mark;
  const Mark* end = begin + block.marks;
  const auto offset = static_cast<uint32_t>(code_address - executable_) - block.code;
  const Mark* behind =
      std::upper_bound(begin, end, offset, [](uint32_t at, const Mark& mark) { return at < mark.code_offset; });
  return behind == begin ? nullptr : behind - 1;
}

void CodeCache::clear(size_t kept_bytes, uint64_t default_lookup) {
  set_default_lookup(default_lookup);
  block_count_.store(0, std::memory_order_release);
  used_ = kept_bytes;
  link_count_ = mark_count_ = 0;
  madvise(table_, kTableSlots * sizeof(uint32_t), MADV_DONTNEED);  // zeros
}

// Threads inside such a block run to its end, which holds no jump but through links and the lookup table.
uint32_t CodeCache::remove(uint64_t begin, uint64_t end) {
  uint32_t removed = 0;
  const uint32_t count = block_count_.load(std::memory_order_relaxed);
  for (uint32_t i = 0; i < count; ++i) {
    Block& block = blocks_[i];
    if (block.is_dead || block.guest >= end || block.guest_end <= begin) continue;
    block.is_dead = true;
    ++removed;
    std::memcpy(writable_ + block.code - kKeyBytes, &kNoGuest, kKeyBytes);
  }
  for (uint32_t link = 0; removed > 0 && link < link_count_; ++link) {
    const Block* block = links_[link] == link_info_[link].stub ? nullptr : find_block(links_[link]);
    if (block && block->is_dead) std::atomic_ref(links_[link]).store(link_info_[link].stub, std::memory_order_release);
  }
  return removed;
}

}  // namespace contrafact::translate
