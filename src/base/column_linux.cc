#include <sys/mman.h>

#include <cstdint>

#include "base/column.h"

namespace contrafact::base {
namespace {

constexpr size_t kHugePage = size_t{1} << 21;
// Below four huge pages, what rounding up would waste outweighs the page faults saved: 2048 at most. The address
// sanitizer guards and counts only memory of its own.
#if defined(__SANITIZE_ADDRESS__)
#define CONTRAFACT_ADDRESS_SANITIZER 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define CONTRAFACT_ADDRESS_SANITIZER 1
#endif
#endif
#ifdef CONTRAFACT_ADDRESS_SANITIZER
constexpr size_t kMappedFrom = SIZE_MAX;
#else
constexpr size_t kMappedFrom = 4 * kHugePage;
#endif

constexpr size_t rounded(size_t bytes) {
  return (bytes + kHugePage - 1) & ~(kHugePage - 1);
}

}  // namespace

void* allocate_column(size_t bytes) {
  if (bytes < kMappedFrom) return ::operator new(bytes);
  if (bytes > SIZE_MAX / 2) throw std::bad_alloc();
  // One huge page more than needed, cut to a huge page's boundary at both ends.
  const size_t mapped = rounded(bytes) + kHugePage;
  void* memory = mmap(nullptr, mapped, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) throw std::bad_alloc();
  const auto first = reinterpret_cast<uintptr_t>(memory);
  const uintptr_t begin = rounded(first);
  const uintptr_t end = begin + rounded(bytes);
  if (begin > first) munmap(memory, begin - first);
  if (first + mapped > end) munmap(reinterpret_cast<void*>(end), first + mapped - end);
  // A hint; nothing depends on it. The last page is left small: it may be used for a part only.
  madvise(reinterpret_cast<void*>(begin), bytes & ~(kHugePage - 1), MADV_HUGEPAGE);
  return reinterpret_cast<void*>(begin);
}

void free_column(void* memory, size_t bytes) noexcept {
  if (bytes < kMappedFrom) return ::operator delete(memory);
  munmap(memory, rounded(bytes));
}

}  // namespace contrafact::base
