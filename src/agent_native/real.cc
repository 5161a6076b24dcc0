#include "agent_native/real.h"

#include <dlfcn.h>

namespace contrafact::agent_native {

constinit Real g_real;

namespace {

thread_local constinit bool t_resolving __attribute__((tls_model("initial-exec"))) = false;

// Condition variables changed their layout: without a version, old systems hand out the oldest. A name that is looked
// up in vain makes the loader allocate a message, so only names that have that version are looked up with it.
void* find(const char* name) {
  const bool has_old_version =
      __builtin_strncmp(name, "pthread_cond_", 13) == 0 && __builtin_strcmp(name, "pthread_cond_clockwait") != 0;
  if (has_old_version) {
    if (void* versioned = dlvsym(RTLD_NEXT, name, "GLIBC_2.3.2")) return versioned;
  }
  return dlsym(RTLD_NEXT, name);
}

}  // namespace

// Locks first: for a symbol that is not there, the loader may call an allocator that the program brings, which uses
// locks.
void resolve_real() {
  if (t_resolving) return;  // such an allocator: what it needs, the mutexes, has been found
  t_resolving = true;
#define CONTRAFACT_FIND(name, result, parameters) g_real.name = reinterpret_cast<result(*) parameters>(find(#name));
  CONTRAFACT_REAL_LOCKS(CONTRAFACT_FIND)
  CONTRAFACT_REAL_LIVES(CONTRAFACT_FIND)
  CONTRAFACT_REAL_THREADS(CONTRAFACT_FIND)
  CONTRAFACT_REAL_BLOCKING(CONTRAFACT_FIND)
  CONTRAFACT_REAL_DESCRIPTORS(CONTRAFACT_FIND)
  CONTRAFACT_REAL_PROCESS(CONTRAFACT_FIND)
#undef CONTRAFACT_FIND
  t_resolving = false;
  g_real.ready.store(true, std::memory_order_release);
}

}  // namespace contrafact::agent_native
