// The runtime library of objects that were compiled with -fsanitize=thread, by gcc or clang: the functions that the
// compiler calls before each access, and the atomic operations, which it turns into calls. Accesses go to the recording
// agent, if there is one, where it sees them in no other way (contrafact/accesses.h).
//
// While the agent translates a critical section it translates this code too. So a call that is not wanted touches no
// memory but its own stack and thread-local variables, by %fs, and the agent leaves those of this library out: a set
// holds only the program's own accesses.
//
// Thread safety: all of it. Allocates nothing; no dependence but the C library.
#include <dlfcn.h>

#include <cstddef>
#include <cstdint>

#include "contrafact/accesses.h"

namespace {

constexpr uint32_t kRead = CONTRAFACT_ACCESS_READ, kWrite = CONTRAFACT_ACCESS_WRITE;

constinit const contrafact_accesses* g_agent = nullptr;
constinit ptrdiff_t g_wanted_at = 0;
// The thread's copy of g_wanted_at, once it has entered a function. 0: nothing is wanted.
thread_local constinit ptrdiff_t t_wanted_at __attribute__((tls_model("initial-exec"))) = 0;

// Called by each object's constructor: the agent's own may have run meanwhile.
void begin() {
  if (g_agent) return;
  const auto* agent = static_cast<const contrafact_accesses*>(dlsym(RTLD_DEFAULT, CONTRAFACT_ACCESSES_SYMBOL));
  if (agent && agent->version == CONTRAFACT_ACCESSES_VERSION && agent->begin(&g_wanted_at) != 0) g_agent = agent;
}

inline void access(const volatile void* begin, size_t bytes, uint32_t flags) {
  const ptrdiff_t at = t_wanted_at;
  if (at == 0) return;
  uint8_t wanted;
  __asm__ volatile("movb %%fs:(%1), %0" : "=q"(wanted) : "r"(at));
  if (wanted == 0) [[likely]]
    return;
  g_agent->access(begin, bytes, flags);
}

}  // namespace

#define EXPORT extern "C" __attribute__((visibility("default")))

EXPORT void __tsan_init() {
  begin();
}
EXPORT void __tsan_func_entry(void*) {
  if (t_wanted_at == 0) t_wanted_at = g_wanted_at;
}
EXPORT void __tsan_func_exit() {}
EXPORT void __tsan_ignore_thread_begin() {}
EXPORT void __tsan_ignore_thread_end() {}
EXPORT void __tsan_external_read(void* address, void*, void*) {
  access(address, 1, kRead);
}
EXPORT void __tsan_external_write(void* address, void*, void*) {
  access(address, 1, kWrite);
}
EXPORT void __tsan_vptr_update(void** address, void*) {
  access(address, sizeof(void*), kWrite);
}
EXPORT void __tsan_vptr_read(void** address) {
  access(address, sizeof(void*), kRead);
}
EXPORT void __tsan_read_range(void* begin, unsigned long bytes) {
  access(begin, bytes, kRead);
}
EXPORT void __tsan_write_range(void* begin, unsigned long bytes) {
  access(begin, bytes, kWrite);
}

#define ACCESSES(bytes)                                               \
  EXPORT void __tsan_read##bytes(void* address) {                     \
    access(address, bytes, kRead);                                    \
  }                                                                   \
  EXPORT void __tsan_write##bytes(void* address) {                    \
    access(address, bytes, kWrite);                                   \
  }                                                                   \
  EXPORT void __tsan_read_write##bytes(void* address) {               \
    access(address, bytes, kRead | kWrite);                           \
  }                                                                   \
  EXPORT void __tsan_volatile_read##bytes(void* address) {            \
    access(address, bytes, kRead);                                    \
  }                                                                   \
  EXPORT void __tsan_volatile_write##bytes(void* address) {           \
    access(address, bytes, kWrite);                                   \
  }                                                                   \
  EXPORT void __tsan_unaligned_read##bytes(void* address) {           \
    access(address, bytes, kRead);                                    \
  }                                                                   \
  EXPORT void __tsan_unaligned_write##bytes(void* address) {          \
    access(address, bytes, kWrite);                                   \
  }                                                                   \
  EXPORT void __tsan_unaligned_read_write##bytes(void* address) {     \
    access(address, bytes, kRead | kWrite);                           \
  }                                                                   \
  EXPORT void __tsan_unaligned_volatile_read##bytes(void* address) {  \
    access(address, bytes, kRead);                                    \
  }                                                                   \
  EXPORT void __tsan_unaligned_volatile_write##bytes(void* address) { \
    access(address, bytes, kWrite);                                   \
  }
ACCESSES(1)
ACCESSES(2)
ACCESSES(4)
ACCESSES(8)
ACCESSES(16)

// The order that the program asked for is at most the strongest. __sync where the type has 16 bytes: no library needed.
#define ATOMIC_FETCH(bits, type, name, expression)                                          \
  EXPORT type __tsan_atomic##bits##_fetch_##name(volatile type* address, type value, int) { \
    access(address, sizeof(type), kRead | kWrite);                                          \
    type before = *address;                                                                 \
    for (;;) {                                                                              \
      const type seen = __sync_val_compare_and_swap(address, before, (type)(expression));   \
      if (seen == before) return before;                                                    \
      before = seen;                                                                        \
    }                                                                                       \
  }
#define ATOMICS(bits, type)                                                                                          \
  EXPORT type __tsan_atomic##bits##_load(const volatile type* address, int) {                                        \
    access(address, sizeof(type), kRead);                                                                            \
    if constexpr (sizeof(type) <= 8) return __atomic_load_n(address, __ATOMIC_SEQ_CST);                              \
    return __sync_val_compare_and_swap(const_cast<volatile type*>(address), type{0}, type{0});                       \
  }                                                                                                                  \
  ATOMIC_FETCH(bits, type, add, before + value)                                                                      \
  ATOMIC_FETCH(bits, type, sub, before - value)                                                                      \
  ATOMIC_FETCH(bits, type, and, before& value)                                                                       \
  ATOMIC_FETCH(bits, type, or, before | value)                                                                       \
  ATOMIC_FETCH(bits, type, xor, before ^ value)                                                                      \
  ATOMIC_FETCH(bits, type, nand, ~(before & value))                                                                  \
  EXPORT type __tsan_atomic##bits##_exchange(volatile type* address, type value, int) {                              \
    access(address, sizeof(type), kRead | kWrite);                                                                   \
    type before = *address;                                                                                          \
    for (;;) {                                                                                                       \
      const type seen = __sync_val_compare_and_swap(address, before, value);                                         \
      if (seen == before) return before;                                                                             \
      before = seen;                                                                                                 \
    }                                                                                                                \
  }                                                                                                                  \
  EXPORT void __tsan_atomic##bits##_store(volatile type* address, type value, int order) {                           \
    __tsan_atomic##bits##_exchange(address, value, order);                                                           \
  }                                                                                                                  \
  EXPORT int __tsan_atomic##bits##_compare_exchange_strong(volatile type* address, type* expected, type wanted, int, \
                                                           int) {                                                    \
    access(address, sizeof(type), kRead | kWrite);                                                                   \
    const type seen = __sync_val_compare_and_swap(address, *expected, wanted);                                       \
    if (seen == *expected) return 1;                                                                                 \
    *expected = seen;                                                                                                \
    return 0;                                                                                                        \
  }                                                                                                                  \
  EXPORT int __tsan_atomic##bits##_compare_exchange_weak(volatile type* address, type* expected, type wanted,        \
                                                         int success, int failure) {                                 \
    return __tsan_atomic##bits##_compare_exchange_strong(address, expected, wanted, success, failure);               \
  }                                                                                                                  \
  EXPORT type __tsan_atomic##bits##_compare_exchange_val(volatile type* address, type expected, type wanted, int,    \
                                                         int) {                                                      \
    access(address, sizeof(type), kRead | kWrite);                                                                   \
    return __sync_val_compare_and_swap(address, expected, wanted);                                                   \
  }
ATOMICS(8, uint8_t)
ATOMICS(16, uint16_t)
ATOMICS(32, uint32_t)
ATOMICS(64, uint64_t)
using uint128 = unsigned __int128;
ATOMICS(128, uint128)

EXPORT void __tsan_atomic_thread_fence(int) {
  __atomic_thread_fence(__ATOMIC_SEQ_CST);
}
EXPORT void __tsan_atomic_signal_fence(int) {
  __atomic_signal_fence(__ATOMIC_SEQ_CST);
}

// clang's names for block operations, and the C library's, which gcc calls.
namespace {
template <typename Function>
Function* next(const char* name) {
  return reinterpret_cast<Function*>(dlsym(RTLD_NEXT, name));
}
void* copy(void* to, const void* from, size_t bytes) {
  static auto* const library = next<void*(void*, const void*, size_t)>("memmove");
  access(from, bytes, kRead);
  access(to, bytes, kWrite);
  return library(to, from, bytes);
}
void* set(void* to, int value, size_t bytes) {
  static auto* const library = next<void*(void*, int, size_t)>("memset");
  access(to, bytes, kWrite);
  return library(to, value, bytes);
}
}  // namespace
EXPORT void* __tsan_memcpy(void* to, const void* from, size_t bytes) {
  return copy(to, from, bytes);
}
EXPORT void* __tsan_memmove(void* to, const void* from, size_t bytes) {
  return copy(to, from, bytes);
}
EXPORT void* __tsan_memset(void* to, int value, size_t bytes) {
  return set(to, value, bytes);
}
EXPORT void* memcpy(void* to, const void* from, size_t bytes) {
  return copy(to, from, bytes);
}
EXPORT void* memmove(void* to, const void* from, size_t bytes) {
  return copy(to, from, bytes);
}
EXPORT void* memset(void* to, int value, size_t bytes) {
  return set(to, value, bytes);
}
