// All forms of new and delete end in these; aligned blocks are the exception, and are not counted.
#include <malloc.h>

#include <new>

#include "memory_limit.h"

namespace contrafact {

void MemoryLimit::install() {}

}  // namespace contrafact

void* operator new(size_t bytes) {
  void* memory = std::malloc(bytes);
  if (!memory) throw std::bad_alloc();
  contrafact::MemoryLimit::on_allocation(malloc_usable_size(memory));
  return memory;
}
void operator delete(void* memory) noexcept {
  if (memory) contrafact::MemoryLimit::on_free(malloc_usable_size(memory));
  std::free(memory);
}
void operator delete(void* memory, size_t) noexcept {
  operator delete(memory);
}
