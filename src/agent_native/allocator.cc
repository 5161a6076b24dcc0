#include "agent_native/allocator.h"

#include <dlfcn.h>

#include <algorithm>

#include "agent_native/recording.h"
#include "translate/translator.h"

namespace contrafact::agent_native {
namespace {

// The allocator's functions that read or write the program's own memory.
struct Allocator {
  void* (*calloc)(size_t, size_t);
  void* (*realloc)(void*, size_t);
  void* (*reallocarray)(void*, size_t, size_t);
  int (*posix_memalign)(void**, size_t, size_t);
  size_t (*usable_size)(void*);
};
constinit Allocator g_allocator = {};
constinit translate::Translator* g_translator = nullptr;

void note_of_allocator(const void* begin, size_t bytes, uint32_t flags) {
  const Inside inside;  // a handler's locks leave the segment alone meanwhile
  g_translator->note(begin, bytes, flags);
}

void* stand_in_calloc(size_t count, size_t bytes) {
  void* memory = g_allocator.calloc(count, bytes);
  if (memory) note_of_allocator(memory, count * bytes, translate::kAccessWrite | translate::kAccessChanged);
  return memory;
}

// What a block that moved held is read, and written to its new place.
void note_moved(uint64_t from, const void* to, size_t bytes) {
  if (from == 0 || !to || from == reinterpret_cast<uint64_t>(to)) return;
  note_of_allocator(reinterpret_cast<const void*>(from), bytes, translate::kAccessRead);
  note_of_allocator(to, bytes, translate::kAccessWrite | translate::kAccessChanged);
}
void* stand_in_realloc(void* block, size_t bytes) {
  const auto from = reinterpret_cast<uint64_t>(block);
  const size_t bytes_before = block ? g_allocator.usable_size(block) : 0;
  void* memory = g_allocator.realloc(block, bytes);
  note_moved(from, memory, std::min(bytes_before, bytes));
  return memory;
}
void* stand_in_reallocarray(void* block, size_t count, size_t bytes) {
  const auto from = reinterpret_cast<uint64_t>(block);
  const size_t bytes_before = block ? g_allocator.usable_size(block) : 0;
  void* memory = g_allocator.reallocarray(block, count, bytes);
  note_moved(from, memory, std::min(bytes_before, count * bytes));
  return memory;
}

int stand_in_posix_memalign(void** memory, size_t alignment, size_t bytes) {
  const int error = g_allocator.posix_memalign(memory, alignment, bytes);
  if (error == 0) note_of_allocator(memory, sizeof *memory, translate::kAccessWrite | translate::kAccessChanged);
  return error;
}

template <typename Function>
void find(Function*& function, const char* name) {
  function = reinterpret_cast<Function*>(dlsym(RTLD_DEFAULT, name));
}

}  // namespace

void note_allocator_at(translate::Translator& translator) {
  g_translator = &translator;
}

// Without malloc_usable_size nobody knows what realloc copies: it runs translated then.
void watch_allocator(translate::Translator& translator) {
  note_allocator_at(translator);
  const auto add = [&](auto* function, auto* stand_in) {
    translator.add_gate(reinterpret_cast<uint64_t>(function), reinterpret_cast<uint64_t>(stand_in));
  };
  for (const char* name :
       {"malloc", "free", "memalign", "aligned_alloc", "valloc", "pvalloc", "malloc_usable_size", "cfree"}) {
    void* const function = dlsym(RTLD_DEFAULT, name);
    add(function, function);
  }
  find(g_allocator.calloc, "calloc");
  find(g_allocator.realloc, "realloc");
  find(g_allocator.reallocarray, "reallocarray");
  find(g_allocator.posix_memalign, "posix_memalign");
  find(g_allocator.usable_size, "malloc_usable_size");
  add(g_allocator.calloc, stand_in_calloc);
  add(g_allocator.posix_memalign, stand_in_posix_memalign);
  if (!g_allocator.usable_size) return;
  add(g_allocator.realloc, stand_in_realloc);
  add(g_allocator.reallocarray, stand_in_reallocarray);
}

}  // namespace contrafact::agent_native
