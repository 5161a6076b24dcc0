#include <sys/mman.h>

#include <cstdint>

#include "base/huge_pages.h"

namespace contrafact::base {

void prefer_huge_pages(const void* memory, size_t bytes) {
  constexpr uintptr_t kHugePage = uintptr_t{1} << 21;
  const auto begin = (reinterpret_cast<uintptr_t>(memory) + kHugePage - 1) & ~(kHugePage - 1);
  const auto end = (reinterpret_cast<uintptr_t>(memory) + bytes) & ~(kHugePage - 1);
  if (begin < end) madvise(reinterpret_cast<void*>(begin), end - begin, MADV_HUGEPAGE);
}

}  // namespace contrafact::base
