// Large blocks of memory come in huge pages, whoever asks for them: with a trace of a million tasks half of a command's
// time was the kernel's, for page faults. Columns do the same for themselves (base/column.h).
#include <malloc.h>
#include <sys/mman.h>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <new>

#ifndef __SANITIZE_ADDRESS__
#ifndef __SANITIZE_THREAD__

namespace {

constexpr size_t kHugePage = size_t{1} << 21;
// As for columns: below this, what rounding up would waste outweighs the page faults saved.
constexpr size_t kLargeFrom = 4 * kHugePage;

void* allocate(size_t bytes) {
  if (bytes < kLargeFrom) return std::malloc(bytes);
  if (bytes > SIZE_MAX / 2) return nullptr;
  // Blocks that are freed go back to the kernel at once: by itself the library keeps ever larger ones.
  [[maybe_unused]] static const int fixed = mallopt(M_MMAP_THRESHOLD, kLargeFrom);
  void* block = std::aligned_alloc(kHugePage, (bytes + kHugePage - 1) & ~(kHugePage - 1));
  if (block) madvise(block, bytes & ~(kHugePage - 1), MADV_HUGEPAGE);  // a hint; nothing depends on it
  return block;
}

}  // namespace

void* operator new(size_t bytes) {
  if (void* block = allocate(bytes == 0 ? 1 : bytes)) return block;
  throw std::bad_alloc();
}
void operator delete(void* block) noexcept {
  std::free(block);
}
void operator delete(void* block, size_t) noexcept {
  std::free(block);
}

#endif
#endif
