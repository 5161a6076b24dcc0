// All forms of new and delete end in these.
#include <malloc.h>

#include <cstdlib>
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

void* operator new(size_t bytes, std::align_val_t alignment) {
  const auto aligned = static_cast<size_t>(alignment);
  void* memory = std::aligned_alloc(aligned, (bytes + aligned - 1) / aligned * aligned);
  if (!memory) throw std::bad_alloc();
  contrafact::MemoryLimit::on_allocation(malloc_usable_size(memory));
  return memory;
}
void operator delete(void* memory, std::align_val_t) noexcept {
  operator delete(memory);
}
void operator delete(void* memory, size_t, std::align_val_t) noexcept {
  operator delete(memory);
}
