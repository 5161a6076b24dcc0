// Threads that restrict their own system calls, or those of all threads (seccomp). Translation needs some that the
// program may not allow, so it ends before, on all of them; what else the recorder asks the kernel for, it asks on a
// thread of its own, or not any more.
#include <sys/syscall.h>

#include "agent_native/agent.h"
#include "agent_native/real.h"
#include "agent_native/recording.h"
#include "agent_native/strict_mode.h"

namespace contrafact::agent_native {

void before_restriction() {
  g_agent.restricted.store(true, std::memory_order_relaxed);
  if (!sets_are_on() || !g_agent.live.load(std::memory_order_acquire)) return;
  const Inside inside;
  end_sets_before_restriction();
  g_agent.shared->recorder->add_fact("sets.ended", "the program restricts its system calls");
}

}  // namespace contrafact::agent_native

using namespace contrafact::agent_native;

CONTRAFACT_INTERPOSE(int, prctl, (int operation, long a, long b, long c, long d)) {
  CONTRAFACT_CALLED;
  const long call[] = {SYS_prctl, operation, a, b, c, d, 0};
  before_program_call(call);
  return called_.effect(SYS_prctl, real().prctl(operation, a, b, c, d), operation, a, b, c, d);
}
