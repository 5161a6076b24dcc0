#include "base/check.h"
#include "memory_limit.h"

// Of <sanitizer/allocator_interface.h>, which clang brings and gcc does not; the libraries of both have them.
extern "C" {
size_t __sanitizer_get_allocated_size(const volatile void* memory);
int __sanitizer_install_malloc_and_free_hooks(void (*on_malloc)(const volatile void*, size_t),
                                              void (*on_free)(const volatile void*));
}

namespace contrafact {
namespace {

void see_allocation(const volatile void* memory, size_t) {
  MemoryLimit::on_allocation(__sanitizer_get_allocated_size(memory));
}
void see_free(const volatile void* memory) {
  if (memory != nullptr) MemoryLimit::on_free(__sanitizer_get_allocated_size(memory));
}

}  // namespace

void MemoryLimit::install() {
  CHECK(__sanitizer_install_malloc_and_free_hooks(see_allocation, see_free) != 0);
}

}  // namespace contrafact
