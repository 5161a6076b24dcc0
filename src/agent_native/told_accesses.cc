// Accesses that the program reports itself (contrafact/accesses.h).
#include "agent_native/sets.h"
#include "agent_native/sets_state.h"
#include "contrafact/accesses.h"

namespace contrafact::agent_native {

constinit std::atomic<bool> g_instrumented{false};
thread_local constinit bool t_noting __attribute__((tls_model("initial-exec"))) = false;

namespace {

int begin_instrumented(ptrdiff_t* wanted_at) {
  if (!sets_are_on()) return 0;
  if (!g_instrumented.exchange(true, std::memory_order_relaxed)) {
    if (Client* client = recording()) {
      if (const Appending appending{client}) tell_sets(client);
    }
  }
  *wanted_at = reinterpret_cast<char*>(&t_thread.is_outside) - static_cast<char*>(__builtin_thread_pointer());
  return 1;
}

// The value after a write is not known: every write counts as one that changes it.
void note_access(const volatile void* begin, size_t bytes, uint32_t flags) {
  if (t_noting || t_thread.mode != Mode::native) return;
  t_noting = true;
  const Inside inside;
  std::atomic_signal_fence(std::memory_order_seq_cst);
  if ((flags & translate::kAccessWrite) != 0) flags |= translate::kAccessChanged;
  if (t_thread.thread) g_state->translator->note(const_cast<const void*>(begin), bytes, flags);
  std::atomic_signal_fence(std::memory_order_seq_cst);
  t_noting = false;
}

}  // namespace
}  // namespace contrafact::agent_native

using namespace contrafact::agent_native;

extern "C" __attribute__((visibility("default"))) const contrafact_accesses contrafact_accesses_of_agent;
const contrafact_accesses contrafact_accesses_of_agent = {CONTRAFACT_ACCESSES_VERSION, begin_instrumented, note_access};
static_assert(CONTRAFACT_ACCESS_READ == contrafact::translate::kAccessRead &&
              CONTRAFACT_ACCESS_WRITE == contrafact::translate::kAccessWrite);
