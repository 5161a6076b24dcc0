// Threads that restrict their own system calls, or those of all threads (seccomp). Recording makes none, but for exec's
// way into the new image and for translation, which end here, on all threads.
//
// A thread that may not read the clock any more is recorded until then.
//
// Also the names that threads give themselves.
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

#include "agent_native/agent.h"
#include "agent_native/real.h"
#include "agent_native/recording.h"
#include "agent_native/threads.h"
#include "translate/system_calls.h"

namespace contrafact::agent_native {

namespace {

void before_restriction() {
  g_agent.restricted.store(true, std::memory_order_relaxed);
  if (!sets_are_on() || !g_agent.live.load(std::memory_order_acquire)) return;
  {
    const Inside inside;
    end_sets_before_restriction();
  }
  append_text(recorder::TextKind::fact, 0, "sets.ended", "the program restricts its system calls");
}

}  // namespace

namespace {

// Strict mode forbids more than system calls: reading the processor's counter is a fault, as after PR_SET_TSC, and the
// C library's clocks read it too.
bool takes_the_clock(const long* call) {
  if (call[0] == SYS_prctl && call[1] == PR_SET_TSC) return call[2] == PR_TSC_SIGSEGV;
  if (!translate::restricts_system_calls(call)) return false;
  return call[0] == SYS_seccomp ? call[1] == SECCOMP_SET_MODE_STRICT : call[2] == SECCOMP_MODE_STRICT;
}

// The last of this thread, while there is a time for it.
void end_thread_recording() {
  if (!g_agent.live.load(std::memory_order_acquire) || !is_original()) return;
  Client* const client = recording();
  t_local.over = t_local.has_no_clock = true;
  if (!client) return;
  const Appending appending{client};
  if (!appending) return;
  detach_sets();
  leave_current();
  g_agent.shared->log->detach(client);
}

}  // namespace

void before_program_call(const long* call) {
  if (translate::restricts_system_calls(call)) before_restriction();
  if (takes_the_clock(call)) end_thread_recording();
}

}  // namespace contrafact::agent_native

using namespace contrafact::agent_native;

CONTRAFACT_INTERPOSE(int, prctl, (int operation, long a, long b, long c, long d)) {
  CONTRAFACT_CALLED;
  const long call[] = {SYS_prctl, operation, a, b, c, d, 0};
  before_program_call(call);
  const int result = real().prctl(operation, a, b, c, d);
  // The kernel has read it.
  if (operation == PR_SET_NAME && result == 0) name_thread(own_thread_id(), reinterpret_cast<const char*>(a));
  return called_.effect(SYS_prctl, result, operation, a, b, c, d);
}
