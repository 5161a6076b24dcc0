// Interposes free(), in the agent that records read and write sets alone (CMakeLists.txt). The allocator may give a
// block that native code frees to another thread; both uses of that memory have nothing to do with each other
// (translate/heap_lives.h).
//
// Thread safety: any thread, as free() itself. Adds a load and a branch while no sets are recorded.
#include <dlfcn.h>

#include <atomic>

#include "agent_native/allocator.h"
#include "agent_native/real.h"
#include "agent_native/sets.h"

using namespace contrafact::agent_native;

namespace {

using Free = void (*)(void*);

constinit std::atomic<Free> g_next{nullptr};
thread_local constinit bool t_finding __attribute__((tls_model("initial-exec"))) = false;

// Null while it is being looked for: blocks that the loader frees meanwhile stay allocated.
Free next() {
  Free known = g_next.load(std::memory_order_acquire);
  if (known || t_finding) return known;
  t_finding = true;
  known = reinterpret_cast<Free>(dlsym(RTLD_NEXT, "free"));
  t_finding = false;
  g_next.store(known, std::memory_order_release);
  return known;
}

}  // namespace

CONTRAFACT_INTERPOSE(void, free, (void* block)) {
  if (sets_are_on()) note_native_free(block);
  if (const Free next_free = next()) next_free(block);
}
