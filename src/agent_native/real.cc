#include "agent_native/real.h"

#include <dlfcn.h>

namespace contrafact::agent_native {

constinit Real g_real;

namespace {

// Condition variables changed their layout: without a version, old systems hand out the oldest.
void* find(const char* name) {
  if (name[0] == 'p' && __builtin_strncmp(name, "pthread_cond_", 13) == 0) {
    if (void* versioned = dlvsym(RTLD_NEXT, name, "GLIBC_2.3.2")) return versioned;
  }
  return dlsym(RTLD_NEXT, name);
}

}  // namespace

// Locks first: the loader may use them, through an allocator that the program brings, for a symbol that is not there.
void resolve_real() {
#define CONTRAFACT_FIND(name, result, parameters) g_real.name = reinterpret_cast<result(*) parameters>(find(#name));
  CONTRAFACT_REAL_LOCKS(CONTRAFACT_FIND)
  CONTRAFACT_REAL_THREADS(CONTRAFACT_FIND)
  CONTRAFACT_REAL_BLOCKING(CONTRAFACT_FIND)
  CONTRAFACT_REAL_PROCESS(CONTRAFACT_FIND)
#undef CONTRAFACT_FIND
  g_real.ready.store(true, std::memory_order_release);
}

}  // namespace contrafact::agent_native
