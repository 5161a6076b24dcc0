#include "agent_native/allocator.h"

#include <dlfcn.h>

#include <algorithm>

#include "agent_native/recording.h"
#include "translate/translator.h"

namespace contrafact::agent_native {
namespace {

// The allocator's functions. Their accesses to the program's own memory are noted, and the blocks that come and go.
struct Allocator {
  void* (*malloc)(size_t);
  void (*free)(void*);
  void* (*calloc)(size_t, size_t);
  void* (*realloc)(void*, size_t);
  void* (*reallocarray)(void*, size_t, size_t);
  int (*posix_memalign)(void**, size_t, size_t);
  void* (*memalign)(size_t, size_t);
  void* (*aligned_alloc)(size_t, size_t);
  size_t (*usable_size)(void*);
};
constinit Allocator g_allocator = {};
constinit translate::Translator* g_translator = nullptr;

// The thread is inside: a handler's locks leave the segment alone meanwhile.
void note_of_allocator(const void* begin, size_t bytes, uint32_t flags) {
  const Inside inside;
  g_translator->note(begin, bytes, flags);
}
size_t bytes_of(void* block, size_t asked) {
  return g_allocator.usable_size ? g_allocator.usable_size(block) : asked;
}
void* allocated(void* block, size_t bytes) {
  if (!block) return nullptr;
  const Inside inside;
  g_translator->note_allocated(block, bytes_of(block, bytes));
  return block;
}
void note_freed(void* block) {
  if (!block || !g_allocator.usable_size) return;
  const Inside inside;
  g_translator->note_freed(block, g_allocator.usable_size(block));
}

// The allocator's `function`, found behind ours where we stand in front of it.
template <typename Function>
void find(Function*& function, const char* name) {
  void* found = dlsym(RTLD_DEFAULT, name);
  Dl_info own, other;
  const bool both = found && dladdr(reinterpret_cast<void*>(&note_freed), &own) != 0 && dladdr(found, &other) != 0;
  if (both && own.dli_fbase == other.dli_fbase) found = dlsym(RTLD_NEXT, name);
  function = reinterpret_cast<Function*>(found);
}

// A library with its own `free` may not know the size of its blocks; another library's function must not be asked.
bool are_of_one_library(const void* one, const void* other) {
  Dl_info of_one, of_other;
  return dladdr(one, &of_one) != 0 && dladdr(other, &of_other) != 0 && of_one.dli_fbase == of_other.dli_fbase;
}

void* stand_in_malloc(size_t bytes) {
  return allocated(g_allocator.malloc(bytes), bytes);
}
void stand_in_free(void* block) {
  note_freed(block);
  g_allocator.free(block);
}
void* stand_in_memalign(size_t alignment, size_t bytes) {
  return allocated(g_allocator.memalign(alignment, bytes), bytes);
}
void* stand_in_aligned_alloc(size_t alignment, size_t bytes) {
  return allocated(g_allocator.aligned_alloc(alignment, bytes), bytes);
}

void* stand_in_calloc(size_t count, size_t bytes) {
  void* memory = allocated(g_allocator.calloc(count, bytes), count * bytes);
  if (memory) note_of_allocator(memory, count * bytes, translate::kAccessWrite | translate::kAccessChanged);
  return memory;
}

// Reports a realloc. A block that grew or shrank in its place goes on as it was; of a block that moved, the content
// counts as read, and as written to the new place.
class Reallocation {
 public:
  explicit Reallocation(void* block)
      : from_(reinterpret_cast<uint64_t>(block)),
        bytes_before_(block ? g_allocator.usable_size(block) : 0),
        life_(g_translator->life_of(from_)) {}

  void* result(void* to, size_t bytes) const {
    if ((!to && bytes > 0) || from_ == reinterpret_cast<uint64_t>(to)) return to;
    if (from_ != 0) {
      const Inside inside;
      g_translator->note_moved(from_, bytes_before_, life_);
    }
    if (!allocated(to, bytes) || from_ == 0) return to;
    const size_t held = std::min(bytes_before_, bytes);
    note_of_allocator(reinterpret_cast<const void*>(from_), held, translate::kAccessRead);
    note_of_allocator(to, held, translate::kAccessWrite | translate::kAccessChanged);
    return to;
  }

 private:
  const uint64_t from_;
  const size_t bytes_before_;
  const uint16_t life_;
};
void* stand_in_realloc(void* block, size_t bytes) {
  const Reallocation moves(block);
  return moves.result(g_allocator.realloc(block, bytes), bytes);
}
void* stand_in_reallocarray(void* block, size_t count, size_t bytes) {
  const Reallocation moves(block);
  return moves.result(g_allocator.reallocarray(block, count, bytes), count * bytes);
}

int stand_in_posix_memalign(void** memory, size_t alignment, size_t bytes) {
  const int error = g_allocator.posix_memalign(memory, alignment, bytes);
  if (error != 0) return error;
  allocated(*memory, bytes);
  note_of_allocator(memory, sizeof *memory, translate::kAccessWrite | translate::kAccessChanged);
  return 0;
}

}  // namespace

void note_native_free(void* block) {
  if (!block || !g_translator || !g_allocator.usable_size) return;
  const Inside inside;  // first: in a child that a handler forks here, the section goes on as its parent's
  if (is_in_observed_section()) return note_freed(block);
  g_translator->note_freed_outside(block, g_allocator.usable_size(block));
}

void note_allocator_at(translate::Translator& translator) {
  g_translator = &translator;
}

// Without malloc_usable_size nobody knows what realloc copies: then realloc runs translated.
void watch_allocator(translate::Translator& translator) {
  note_allocator_at(translator);
  const auto add = [&](auto* function, auto* stand_in) {
    translator.add_gate(reinterpret_cast<uint64_t>(function), reinterpret_cast<uint64_t>(stand_in));
  };
  for (const char* name : {"valloc", "pvalloc", "malloc_usable_size", "cfree"}) {
    void* const function = dlsym(RTLD_DEFAULT, name);
    add(function, function);
  }
  find(g_allocator.malloc, "malloc");
  find(g_allocator.free, "free");
  find(g_allocator.memalign, "memalign");
  find(g_allocator.aligned_alloc, "aligned_alloc");
  find(g_allocator.calloc, "calloc");
  find(g_allocator.realloc, "realloc");
  find(g_allocator.reallocarray, "reallocarray");
  find(g_allocator.posix_memalign, "posix_memalign");
  find(g_allocator.usable_size, "malloc_usable_size");
  if (!are_of_one_library(reinterpret_cast<void*>(g_allocator.free), reinterpret_cast<void*>(g_allocator.usable_size)))
    g_allocator.usable_size = nullptr;
  add(g_allocator.malloc, stand_in_malloc);
  add(g_allocator.free, stand_in_free);
  add(reinterpret_cast<void (*)(void*)>(dlsym(RTLD_DEFAULT, "free")), stand_in_free);  // ours, where there is one
  add(g_allocator.memalign, stand_in_memalign);
  add(g_allocator.aligned_alloc, stand_in_aligned_alloc);
  add(g_allocator.calloc, stand_in_calloc);
  add(g_allocator.posix_memalign, stand_in_posix_memalign);
  if (!g_allocator.usable_size) return;
  add(g_allocator.realloc, stand_in_realloc);
  add(g_allocator.reallocarray, stand_in_reallocarray);
}

}  // namespace contrafact::agent_native
