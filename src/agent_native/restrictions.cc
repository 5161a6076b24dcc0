// Threads that restrict their own system calls (seccomp). Translation needs some that the program may not allow, so it
// ends before; what else the recorder asks the kernel for, it asks on a thread of its own, or not any more.
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

#include "agent_native/agent.h"
#include "agent_native/real.h"
#include "agent_native/recording.h"

namespace contrafact::agent_native {

void before_restriction() {
  g_agent.restricted.store(true, std::memory_order_relaxed);
  if (!sets_are_on() || !g_agent.live.load(std::memory_order_acquire)) return;
  const Inside inside;
  end_sets();
  g_agent.shared->recorder->add_fact("sets.ended", "the program restricts its system calls");
}

}  // namespace contrafact::agent_native

using namespace contrafact::agent_native;

CONTRAFACT_INTERPOSE(int, prctl, (int operation, long a, long b, long c, long d)) {
  CONTRAFACT_CALLED;
  if (operation == PR_SET_SECCOMP) before_restriction();
  return called_.effect(SYS_prctl, real().prctl(operation, a, b, c, d), operation, a, b, c, d);
}
