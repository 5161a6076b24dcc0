#include <sanitizer/allocator_interface.h>

#include "base/check.h"
#include "memory_limit.h"

namespace contrafact {
namespace {

void on_allocation(const volatile void* memory, size_t) {
  MemoryLimit::on_allocation(__sanitizer_get_allocated_size(memory));
}
void on_free(const volatile void* memory) {
  if (memory != nullptr) MemoryLimit::on_free(__sanitizer_get_allocated_size(memory));
}

}  // namespace

void MemoryLimit::install() {
  CHECK(__sanitizer_install_malloc_and_free_hooks(on_allocation, on_free) != 0);
}

}  // namespace contrafact
