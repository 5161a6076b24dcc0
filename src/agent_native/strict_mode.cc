#include "agent_native/strict_mode.h"

#include <linux/seccomp.h>
#include <sys/syscall.h>

#include "agent_native/recording.h"
#include "agent_native/sets.h"
#include "agent_native/threads.h"
#include "translate/system_calls.h"

namespace contrafact::agent_native {

namespace {

bool is_strict(const long* call) {
  return call[0] == SYS_seccomp ? call[1] == SECCOMP_SET_MODE_STRICT : call[2] == SECCOMP_MODE_STRICT;
}

void end_thread_recording() {
  Client* client = t_local.client;
  t_local.over = true;
  if (!client || !g_agent.live.load(std::memory_order_acquire)) return;
  const Inside inside;
  detach_sets();
  leave_current();
  g_agent.shared->recorder->detach(client);
  g_agent.shared->threads.fetch_sub(1, std::memory_order_relaxed);
}

}  // namespace

void before_program_call(const long* call) {
  if (!translate::restricts_system_calls(call)) return;
  if (is_strict(call)) end_thread_recording();
  before_restriction();
}

}  // namespace contrafact::agent_native
