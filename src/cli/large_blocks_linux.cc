// Large blocks of memory come in huge pages, whoever asks for them: with a trace of a million tasks half of a command's
// time was the kernel's, for page faults. Columns do the same for themselves (base/column.h).
#include <malloc.h>
#include <sys/mman.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <mutex>
#include <new>

#ifndef __SANITIZE_ADDRESS__
#ifndef __SANITIZE_THREAD__

namespace {

constexpr size_t kHugePage = size_t{1} << 21;
// As for columns: below this, what rounding up would waste outweighs the page faults saved.
constexpr size_t kLargeFrom = 4 * kHugePage;

constexpr size_t rounded(size_t bytes) {
  return (bytes + kHugePage - 1) & ~(kHugePage - 1);
}

// Large blocks that were freed, to be used again: the kernel clears each page that it gives anew, which was a sixth of
// a command's time. Kept and used ones together are never more than were in use at once before.
class KeptBlocks {
 public:
  // Null: none fits, and there is room for a new one.
  void* take(size_t bytes) {
    const std::lock_guard lock(mutex_);
    size_t best = count_;
    for (size_t i = 0; i < count_; ++i) {
      const bool fits = blocks_[i].bytes >= bytes && blocks_[i].bytes - bytes <= bytes / 4;
      if (fits && (best == count_ || blocks_[i].bytes < blocks_[best].bytes)) best = i;
    }
    if (best < count_) {
      used_ += blocks_[best].bytes;
      return drop(best);
    }
    while (count_ > 0 && used_ + bytes + kept_ > std::max(most_, used_ + bytes)) std::free(drop(0));
    return nullptr;
  }

  // A new block is in use.
  void add(size_t bytes) {
    const std::lock_guard lock(mutex_);
    used_ += bytes;
    most_ = std::max(most_, used_);
  }

  // False: it is to be freed.
  bool keep(void* block, size_t bytes) {
    const std::lock_guard lock(mutex_);
    used_ -= std::min(used_, bytes);  // one just below the limit may have come with more than it asked for
    if (count_ == kBlocksMax || used_ + kept_ + bytes > most_) return false;
    blocks_[count_++] = {block, bytes};
    kept_ += bytes;
    return true;
  }

  void free_all() {
    const std::lock_guard lock(mutex_);
    while (count_ > 0) std::free(drop(0));
  }

 private:
  static constexpr size_t kBlocksMax = 64;
  struct Block {
    void* at = nullptr;
    size_t bytes = 0;
  };

  void* drop(size_t i) {
    void* block = blocks_[i].at;
    kept_ -= blocks_[i].bytes;
    std::copy(blocks_ + i + 1, blocks_ + count_, blocks_ + i);  // the oldest stays first
    --count_;
    return block;
  }

  std::mutex mutex_;
  Block blocks_[kBlocksMax] = {};
  size_t count_ = 0;
  size_t used_ = 0, kept_ = 0, most_ = 0;  // bytes
};

constinit KeptBlocks kept;

void* allocate(size_t bytes) {
  if (bytes < kLargeFrom) return std::malloc(bytes);
  if (bytes > SIZE_MAX / 2) return nullptr;
  // Blocks that are freed go back to the kernel at once: by itself the library keeps ever larger ones.
  [[maybe_unused]] static const int fixed = mallopt(M_MMAP_THRESHOLD, kLargeFrom);
  if (void* block = kept.take(rounded(bytes))) return block;
  void* block = std::aligned_alloc(kHugePage, rounded(bytes));
  if (block == nullptr) {
    kept.free_all();
    block = std::aligned_alloc(kHugePage, rounded(bytes));
  }
  if (block == nullptr) return nullptr;
  kept.add(malloc_usable_size(block));
  madvise(block, bytes & ~(kHugePage - 1), MADV_HUGEPAGE);  // a hint; nothing depends on it
  return block;
}

void release(void* block) noexcept {
  if (block == nullptr) return;
  const size_t bytes = malloc_usable_size(block);
  if (bytes >= kLargeFrom && kept.keep(block, bytes)) return;
  std::free(block);
}

}  // namespace

void* operator new(size_t bytes) {
  if (void* block = allocate(bytes == 0 ? 1 : bytes)) return block;
  throw std::bad_alloc();
}
void operator delete(void* block) noexcept {
  release(block);
}
void operator delete(void* block, size_t) noexcept {
  release(block);
}

#endif
#endif
