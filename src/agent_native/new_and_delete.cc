// The agent's own `new` and `delete` (own_memory.h): nothing that C++ allocates here comes from those of the program,
// or from the program's malloc. Hidden, as all of the agent: the program keeps its own.
#include <cstdlib>
#include <new>

#include "agent_native/own_memory.h"

namespace {

constinit contrafact::agent_native::OwnMemory g_memory;

void* get(size_t bytes, size_t alignment = __STDCPP_DEFAULT_NEW_ALIGNMENT__) {
  return g_memory.allocate(bytes, alignment);
}

void* need(void* memory) {
  if (!memory) std::abort();  // as without exceptions
  return memory;
}

}  // namespace

void* operator new(size_t bytes) {
  return need(get(bytes));
}
void* operator new[](size_t bytes) {
  return need(get(bytes));
}
void* operator new(size_t bytes, std::align_val_t alignment) {
  return need(get(bytes, static_cast<size_t>(alignment)));
}
void* operator new[](size_t bytes, std::align_val_t alignment) {
  return need(get(bytes, static_cast<size_t>(alignment)));
}
void* operator new(size_t bytes, const std::nothrow_t&) noexcept {
  return get(bytes);
}
void* operator new[](size_t bytes, const std::nothrow_t&) noexcept {
  return get(bytes);
}
void* operator new(size_t bytes, std::align_val_t alignment, const std::nothrow_t&) noexcept {
  return get(bytes, static_cast<size_t>(alignment));
}
void* operator new[](size_t bytes, std::align_val_t alignment, const std::nothrow_t&) noexcept {
  return get(bytes, static_cast<size_t>(alignment));
}

void operator delete(void* memory) noexcept {
  g_memory.release(memory);
}
void operator delete[](void* memory) noexcept {
  g_memory.release(memory);
}
void operator delete(void* memory, size_t) noexcept {
  g_memory.release(memory);
}
void operator delete[](void* memory, size_t) noexcept {
  g_memory.release(memory);
}
void operator delete(void* memory, std::align_val_t) noexcept {
  g_memory.release(memory);
}
void operator delete[](void* memory, std::align_val_t) noexcept {
  g_memory.release(memory);
}
void operator delete(void* memory, size_t, std::align_val_t) noexcept {
  g_memory.release(memory);
}
void operator delete[](void* memory, size_t, std::align_val_t) noexcept {
  g_memory.release(memory);
}
void operator delete(void* memory, const std::nothrow_t&) noexcept {
  g_memory.release(memory);
}
void operator delete[](void* memory, const std::nothrow_t&) noexcept {
  g_memory.release(memory);
}
void operator delete(void* memory, std::align_val_t, const std::nothrow_t&) noexcept {
  g_memory.release(memory);
}
void operator delete[](void* memory, std::align_val_t, const std::nothrow_t&) noexcept {
  g_memory.release(memory);
}
